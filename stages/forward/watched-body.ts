/** An answer's body on its way to the client, with what becomes of it told to whoever keeps count. */
import type { Source } from '../../engine/index.ts';
import { streamCutShort } from '../model/errors.ts';
import type { HeadFrame } from '../model/frame.ts';
import { createErrorWatch } from './error-events.ts';
import { isPlain } from './head.ts';
import type { ReadOptions } from './read-answer.ts';

/** The same body, whose fate is reported to the provider's breaker. */
export function watch(
  body: Source<Buffer>,
  head: HeadFrame,
  { admission, scope }: ReadOptions,
): Source<Buffer> {
  const { observer } = head;
  const isError = head.streaming && isPlain(head) ? createErrorWatch() : undefined;
  let hasContent = false;
  let hasFailed = false;
  const failed = (thrown: unknown): unknown => {
    admission.failed(thrown, scope.run.signal);
    admission.release();
    return thrown;
  };
  return body.tap({
    value(piece) {
      observer?.push(piece);
      if (isError?.(piece) === true) {
        hasContent = hasFailed = true;
        admission.errorEvent();
      } else if (!hasContent) {
        hasContent = true;
        admission.content();
      }
    },
    /** However cleanly the connection ends: an answer that stops in its middle has failed. */
    end() {
      if (!hasFailed && observer?.isCutShort() === true) throw failed(streamCutShort());
      if (!hasContent) admission.content();
      admission.release();
    },
    error: failed,
    cancel: () => admission.release(),
  });
}
