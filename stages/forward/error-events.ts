/**
 * Notices an error event that a provider sends inside a stream, in the bytes that pass and
 * wherever they are cut. It is cheap enough for every chunk of every stream; inside a JSON
 * text a line break is escaped, so what a model says is never taken for an event.
 */

/** An event that is an error by its name, or whose payload begins with one. */
const ERROR_EVENT =
  /(?:^|[\r\n])(?:event: ?(?:error|response\.failed)[\r\n]|data: ?\{\s*"(?:error"\s*:\s*[{"]|type"\s*:\s*"(?:error|response\.failed)"))/;

/** What every such event holds: nearly no other text does, and it is found much faster. */
const MENTION = /error|response\.failed/;

/** Longer than the longest beginning that the expression needs. */
const SEAM_BYTES = 64;
/**
 * Of a burst only so much at its beginning and at its end is looked at: an error comes in place
 * of an answer or is the last that a provider says.
 */
const BEGINNING_BYTES = 1024;
const END_BYTES = 4096;
const LF = 0x0a;
const CR = 0x0d;

/** Takes the next bytes of a stream; true if an error event begins in them. */
export type ErrorWatch = (bytes: Buffer) => boolean;

/** A watch over one stream. */
export function createErrorWatch(): ErrorWatch {
  /** The end of what came before, where it may be the beginning of an event. */
  let before = '';
  return (bytes) => {
    // Nearly every read ends with a whole event, and then there is no seam to look at.
    if (before !== '') {
      const seam = before + bytes.toString('latin1', 0, SEAM_BYTES);
      if (ERROR_EVENT.test(seam)) {
        before = '';
        return true;
      }
    }
    const isFound = holdsFailureAtEnds(bytes);
    before = endsAnEvent(bytes) ? '' : endOf(before, bytes);
    return isFound;
  };
}

function holdsFailureAtEnds(bytes: Buffer): boolean {
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

function endsAnEvent(bytes: Buffer): boolean {
  return isLineEnd(bytes[bytes.length - 1]) && isLineEnd(bytes[bytes.length - 2]);
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

function endOf(before: string, bytes: Buffer): string {
  if (bytes.length >= SEAM_BYTES) return bytes.toString('latin1', bytes.length - SEAM_BYTES);
  return (before + bytes.toString('latin1')).slice(-SEAM_BYTES);
}
