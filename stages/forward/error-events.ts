/**
 * Notices an error event that a provider sends inside a stream, in the bytes that pass and
 * wherever they are cut. It is cheap enough for every chunk of every stream; inside a JSON
 * text a line break is escaped, so what a model says is never taken for an event.
 */

/** An event that is an error by its name, or whose payload begins with one. */
const ERROR_EVENT =
  /(?:^|[\r\n])(?:event: ?(?:error|response\.failed)[\r\n]|data: ?\{\s*"(?:error"\s*:\s*[{"]|type"\s*:\s*"(?:error|response\.failed)"))/;

/** Longer than the longest beginning that the expression needs. */
const SEAM_BYTES = 64;
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
    const isFound = mentionsFailure(bytes) && ERROR_EVENT.test(bytes.toString('latin1'));
    before = endsAnEvent(bytes) ? '' : endOf(before, bytes);
    return isFound;
  };
}

function mentionsFailure(bytes: Buffer): boolean {
  return bytes.includes('error') || bytes.includes('response.failed');
}

function endsAnEvent(bytes: Buffer): boolean {
  return isLineEnd(bytes.at(-1)) && isLineEnd(bytes.at(-2));
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}

function endOf(before: string, bytes: Buffer): string {
  if (bytes.length >= SEAM_BYTES) return bytes.toString('latin1', bytes.length - SEAM_BYTES);
  return (before + bytes.toString('latin1')).slice(-SEAM_BYTES);
}
