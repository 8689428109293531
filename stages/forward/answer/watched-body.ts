/**
 * Splits the upstream body at event boundaries and reports its outcome to the provider's breaker.
 */
import type { UsageRequest } from '../../model/dialect.ts';
import { streamCutShort } from '../../model/errors.ts';
import type { HeadFrame } from '../../model/frame.ts';
import { isPlain } from '../../model/headers.ts';
import { EventCursor } from '../../wire/events.ts';
import type { EventRun } from '../../wire/events.ts';
import { chunksWithout } from './answer.ts';
import type { BodyWatch, LiveSteps, ReadOptions } from '../attempt-scope.ts';

/**
 * Longer events are passed on in parts. Shorter partial events are held back: a client cannot use
 * them, and if the connection broke off inside one, a following error event could not be read.
 */
const MAX_HELD_BYTES = 64 * 1024;

/** Watches the body of the answer that `head` begins. */
export function watchBody(head: HeadFrame, { admission, scope }: ReadOptions): BodyWatch {
  const { observer } = head;
  const cursor = head.streaming && isPlain(head) ? new EventCursor(MAX_HELD_BYTES) : undefined;
  let hasContent = false;
  let hasFailed = false;
  let isOver = false;

  function observe(bytes: Buffer): void {
    observer?.push(bytes);
    if (cursor !== undefined && holdsErrorEvent(bytes)) {
      hasContent = hasFailed = true;
      admission.errorEvent();
    } else if (!hasContent) {
      hasContent = true;
      admission.content();
    }
  }

  function observeRuns(runs: readonly EventRun[]): Buffer {
    for (const { bytes } of runs) observe(bytes);
    return runs.length === 1 ? runs[0]!.bytes : Buffer.concat(runs.map(({ bytes }) => bytes));
  }

  const watch: BodyWatch = {
    push(bytes) {
      if (cursor !== undefined) return observeRuns(cursor.push(bytes));
      observe(bytes);
      return bytes;
    },
    end() {
      const rest = cursor?.rest();
      const last = observeRuns(rest === undefined ? [] : [rest]);
      if (!hasFailed && observer?.isCutShort() === true) {
        const error = streamCutShort();
        watch.failed(error);
        throw error;
      }
      if (!hasContent) admission.content();
      watch.abandoned();
      return last;
    },
    failed(thrown) {
      if (!isOver) admission.failed(thrown, scope.run.signal);
      watch.abandoned();
    },
    abandoned() {
      if (!isOver) admission.release();
      isOver = true;
    },
  };
  return watch;
}

/**
 * Returns the handlers of `forward` for an answer that is passed through: the body is watched, and
 * events caused only by `added` are removed.
 */
export function passingSteps(watch: BodyWatch, added: UsageRequest | undefined): LiveSteps {
  const toChunk = chunksWithout(added);
  return {
    watch,
    chunk(chunk) {
      const bytes = watch.push(chunk.bytes);
      if (bytes.length === 0) return [];
      return bytes === chunk.bytes && added === undefined ? chunk : toChunk(bytes);
    },
    end(end) {
      const bytes = watch.end();
      return bytes.length === 0 ? end : [toChunk(bytes), end];
    },
  };
}

/** An event that is an error by its name, or whose payload begins with one. */
const ERROR_EVENT =
  /(?:^|[\r\n])(?:event: ?(?:error|response\.failed)[\r\n]|data: ?\{\s*"(?:error"\s*:\s*[{"]|type"\s*:\s*"(?:error|response\.failed)"))/;

/** Part of every such event and of hardly any other text, and much faster to search for. */
const MENTION = /error|response\.failed/;

/**
 * How much of a burst is searched at its beginning and at its end: an error replaces an answer, or
 * is the provider's last event.
 */
const BEGINNING_BYTES = 1024;
const END_BYTES = 4096;

/**
 * Returns true if an error event begins in these bytes, which are whole events or parts of one.
 * Cheap enough for every chunk of every stream; inside a JSON text a line break is escaped, so
 * model output is never taken for an event.
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
