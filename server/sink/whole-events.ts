/**
 * Lets only whole events of a stream through. A provider's connection mostly breaks off inside an
 * event; had its first half been sent, an error event behind it would complete it to an event that
 * no client can read. Nobody can use half an event, so holding it delays nothing.
 */

export interface WholeEvents {
  /** Takes the next bytes; returns those up to the end of the last whole event, possibly none. */
  push(bytes: Buffer): Buffer;
  /** What is held: an unfinished event, or what follows the last one. */
  rest(): Buffer;
}

/** An event that is longer goes out in parts. */
const MAX_HELD_BYTES = 64 * 1024;
/** The longest blank line, `\r\n\r\n`, may begin so many bytes before a read. */
const OVERLAP_BYTES = 3;
const NOTHING = Buffer.alloc(0);
const BLANK_LINES = ['\n\n', '\r\n\r\n', '\r\r'].map((line) => Buffer.from(line));

/** For one stream. */
export function createWholeEvents(): WholeEvents {
  let held: Buffer[] = [];
  let heldBytes = 0;

  function take(): Buffer {
    const bytes = held.length === 1 ? held[0]! : Buffer.concat(held);
    held = [];
    heldBytes = 0;
    return bytes;
  }

  function hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    held.push(bytes);
    heldBytes += bytes.length;
  }

  /** Where the last whole event ends in `bytes`, which follow what is held; 0 if nowhere. */
  function endOfEvents(bytes: Buffer): number {
    if (held.length === 0) return lastBlankLine(bytes);
    const before = Buffer.concat(held.slice(-OVERLAP_BYTES)).subarray(-OVERLAP_BYTES);
    const end = lastBlankLine(Buffer.concat([before, bytes]));
    return Math.max(0, end - before.length);
  }

  return {
    push(bytes) {
      if (held.length === 0 && endsEvent(bytes)) return bytes;
      const end = endOfEvents(bytes);
      if (end > 0) {
        hold(bytes.subarray(0, end));
        const whole = take();
        // A copy: a slice would keep the whole read alive behind a few bytes.
        hold(Buffer.from(bytes.subarray(end)));
        return whole;
      }
      hold(bytes);
      return heldBytes > MAX_HELD_BYTES ? take() : NOTHING;
    },
    rest: take,
  };
}

/** True if `bytes` end with a blank line, so that another event may follow. */
export function endsEvent(bytes: Buffer): boolean {
  const { length } = bytes;
  const last = bytes[length - 1];
  if (last === 0x0d) return bytes[length - 2] === 0x0d;
  if (last !== 0x0a) return false;
  return (
    bytes[length - 2] === 0x0a ||
    (bytes[length - 2] === 0x0d && bytes[length - 3] === 0x0a && bytes[length - 4] === 0x0d)
  );
}

function lastBlankLine(bytes: Buffer): number {
  let end = 0;
  for (const line of BLANK_LINES) {
    const at = bytes.lastIndexOf(line);
    if (at >= 0) end = Math.max(end, at + line.length);
  }
  return end;
}
