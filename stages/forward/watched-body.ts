/** An answer's body on its way to the client: cut behind whole events, watched for how it goes. */
import type { Source } from '../../engine/index.ts';
import { streamCutShort } from '../model/errors.ts';
import type { HeadFrame } from '../model/frame.ts';
import { isPlain } from '../model/headers.ts';
import { EventCursor } from '../wire/events.ts';
import type { ReadOptions } from './attempt-scope.ts';

/**
 * A longer event goes on in parts. Half of a shorter one is held: nobody can use it, and behind a
 * connection that broke off in the middle of it an error event could not be read.
 */
const MAX_HELD_BYTES = 64 * 1024;

/** The same body, a stream in whole events. What becomes of it is reported to the provider's breaker. */
export function watch(
  body: Source<Buffer>,
  head: HeadFrame,
  { admission, scope }: ReadOptions,
): Source<Buffer> {
  const { observer } = head;
  const cursor = head.streaming && isPlain(head) ? new EventCursor(MAX_HELD_BYTES) : undefined;
  let hasContent = false;
  let hasFailed = false;
  const failed = (thrown: unknown): unknown => {
    admission.failed(thrown, scope.run.signal);
    admission.release();
    return thrown;
  };
  const see = (bytes: Buffer): Buffer => {
    observer?.push(bytes);
    if (cursor !== undefined && holdsErrorEvent(bytes)) {
      hasContent = hasFailed = true;
      admission.errorEvent();
    } else if (!hasContent) {
      hasContent = true;
      admission.content();
    }
    return bytes;
  };
  return body.tap({ error: failed, cancel: () => admission.release() }).map(
    (bytes) =>
      cursor === undefined ? see(bytes) : cursor.push(bytes).map((run) => see(run.bytes)),
    () => {
      const rest = cursor?.rest();
      const last = rest === undefined ? [] : [see(rest.bytes)];
      // However cleanly the connection ends: an answer that stops in its middle has failed.
      if (!hasFailed && observer?.isCutShort() === true) throw failed(streamCutShort());
      if (!hasContent) admission.content();
      admission.release();
      return last;
    },
  );
}

/** An event that is an error by its name, or whose payload begins with one. */
const ERROR_EVENT =
  /(?:^|[\r\n])(?:event: ?(?:error|response\.failed)[\r\n]|data: ?\{\s*"(?:error"\s*:\s*[{"]|type"\s*:\s*"(?:error|response\.failed)"))/;

/** What every such event holds: nearly no other text does, and it is found much faster. */
const MENTION = /error|response\.failed/;

/**
 * Of a burst only so much at its beginning and at its end is looked at: an error comes in place
 * of an answer or is the last that a provider says.
 */
const BEGINNING_BYTES = 1024;
const END_BYTES = 4096;

/**
 * True if an error event begins in these bytes, which are whole events or parts of one. It is
 * cheap enough for every chunk of every stream; inside a JSON text a line break is escaped, so
 * what a model says is never taken for an event.
 */
export function holdsErrorEvent(bytes: Buffer): boolean {
  const { length } = bytes;
  if (length <= BEGINNING_BYTES + END_BYTES) return holdsFailure(bytes.toString('latin1'));
  return (
    holdsFailure(bytes.toString('latin1', 0, BEGINNING_BYTES)) ||
    holdsFailure(bytes.toString('latin1', length - END_BYTES))
  );
}

function holdsFailure(text: string): boolean {
  return MENTION.test(text) && ERROR_EVENT.test(text);
}
