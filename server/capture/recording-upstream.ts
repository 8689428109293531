/** An upstream that records the exchanges of captured runs. */
import { Cancelled } from '../../engine/index.ts';
import { bodyOf } from '../../stages/providers/response-body.ts';
import type { Upstream } from '../../stages/providers/upstream.ts';
import type { AttemptRecorder, RunRecorder } from './recorder.ts';

/**
 * Wraps `upstream`; exchanges of the runs for which `recorderOf` returns a recorder are recorded.
 */
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
          return { ...response, body: bodyOf(recordBody(response.body.bytes(), attempt)) };
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

/** Returns the same stream, recording its chunks and its end in `attempt`. */
function recordBody(
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
          // The cancellation may reach the socket before it reaches this stream.
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
