/** The wire to the providers, with whatever goes over it recorded for the runs that are captured. */
import type { Upstream } from '../../stages/providers/upstream.ts';
import type { RunRecorder } from './recorder.ts';

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
          const body = response.body.tap({
            value: (bytes) => attempt.piece(bytes),
            end: () => attempt.end('complete'),
            error(thrown) {
              attempt.end('broken', thrown);
              return thrown;
            },
            cancel: (reason) => attempt.end('cancelled', reason),
          });
          return { ...response, body };
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
