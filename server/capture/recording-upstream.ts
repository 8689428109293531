/** The wire to the providers, with whatever goes over it recorded for the runs that are captured. */
import { Cancelled } from '../../engine/index.ts';
import { bodyOf } from '../../stages/providers/response-body.ts';
import type { Upstream } from '../../stages/providers/upstream.ts';
import type { AttemptRecorder, RunRecorder } from './recorder.ts';

/** `upstream`, of which `recorderOf` hears for the runs that it names. */
export function recordingUpstream(
  upstream: Upstream,
  recorderOf: (runId: string) => RunRecorder | undefined,
): Upstream {
  return {
    send(request, call) {
      const recorder = call === undefined ? undefined : recorderOf(call.runId);
      if (recorder === undefined || call === undefined) return upstream.send(request, call);
      const attempt = recorder.attempt(request, call);
      return upstream.send(request, call).then(
        (response) => {
          attempt.head(response);
          return { ...response, body: bodyOf(recorded(response.body.bytes(), attempt)) };
        },
        (thrown: unknown) => {
          attempt.end('broken', thrown);
          throw thrown;
        },
      );
    },
    close: () => upstream.close(),
  };
}

/** The same stream, of which `attempt` records what comes and how it ends. */
function recorded(
  stream: ReadableStream<Buffer>,
  attempt: AttemptRecorder,
): ReadableStream<Buffer> {
  const reader = stream.getReader();
  let isCancelled = false;
  return new ReadableStream<Buffer>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (isCancelled) return undefined;
          if (!done) {
            attempt.piece(value);
            return controller.enqueue(value);
          }
          attempt.end('complete');
          return controller.close();
        } catch (thrown) {
          // The run that was cancelled may reach the socket before it reaches this stream.
          attempt.end(thrown instanceof Cancelled ? 'cancelled' : 'broken', thrown);
          throw thrown;
        }
      },
      cancel(reason) {
        isCancelled = true;
        attempt.end('cancelled', reason);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
