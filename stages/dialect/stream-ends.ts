/** The beginning and the end of a stream, kept while it passes, to be searched if needed. */
import { createNeedleScanner, lastEvents } from '../wire/events.ts';

/**
 * The end of a stream that is searched for terminators and error events: this many bytes and
 * events.
 */
const TAIL_BYTES = 4096;
/** How much is searched if the last few events are longer. */
const KEPT_BYTES = 32 * 1024;
const TAIL_EVENTS = 4;
/** The beginning of a stream that is searched for the model, if no line with figures named it. */
const FIRST_BYTES = 8 * 1024;

/** Keeps the first few kilobytes of a stream, to be searched if needed. */
export function createFirstBytes() {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    push(bytes: Buffer): void {
      if (size >= FIRST_BYTES) return;
      parts.push(unpinned(bytes.subarray(0, FIRST_BYTES - size)));
      size += bytes.length;
    },
    search(needle: Buffer, onEvent: (event: Buffer) => void): void {
      createNeedleScanner([needle]).push(Buffer.concat(parts), onEvent);
    },
    bytes: (): Buffer => Buffer.concat(parts, Math.min(size, FIRST_BYTES)),
  };
}

/** Copies the bytes if they would keep a much larger read alive. */
function unpinned(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength > 2 * FIRST_BYTES ? Buffer.from(bytes) : bytes;
}

/** The end of a stream, so far. */
export type Tail = ReturnType<typeof createTail>;

/** Keeps the last few kilobytes of a stream without copying them. */
export function createTail() {
  let parts: Buffer[] = [];
  let size = 0;
  let isAll = true;
  let events: string | undefined;
  return {
    push(bytes: Buffer): void {
      events = undefined;
      if (size + bytes.length > KEPT_BYTES) isAll = false;
      if (bytes.length >= KEPT_BYTES) {
        parts = [bytes.subarray(bytes.length - KEPT_BYTES)];
        size = KEPT_BYTES;
        return;
      }
      parts.push(bytes);
      size += bytes.length;
      while (size - parts[0]!.length >= KEPT_BYTES) size -= parts.shift()!.length;
    },
    bytes: (): Buffer => lastBytes(parts, TAIL_BYTES),
    /** Returns the last few events as text; the text before them may be cut. */
    lastEvents(): string {
      // Matching an expression against everything kept costs more than finding the last events.
      events ??=
        lastIn(lastBytes(parts, TAIL_BYTES)) ??
        lastIn(lastBytes(parts, KEPT_BYTES)) ??
        lastBytes(parts, KEPT_BYTES).toString('latin1');
      return events;
    },
    /** Returns false if the last event is complete but so long that its beginning was not kept. */
    holdsLastEvent(): boolean {
      const text = lastBytes(parts, KEPT_BYTES).toString('latin1');
      return isAll || !/[\r\n]$/.test(text) || /\n\r?\n|\r\r/.test(text.trimEnd());
    },
  };
}

/** Returns the last few events as text; undefined if `bytes` does not contain all of them. */
function lastIn(bytes: Buffer): string | undefined {
  return lastEvents(bytes, TAIL_EVENTS)?.toString('latin1');
}

/** Returns the last parts that contain `count` bytes, or all of them. */
function lastBytes(parts: readonly Buffer[], count: number): Buffer {
  let size = 0;
  let first = parts.length;
  while (first > 0 && size < count) size += parts[--first]!.length;
  return first === parts.length - 1 ? parts[first]! : Buffer.concat(parts.slice(first));
}
