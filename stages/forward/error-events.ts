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

/** Takes the next bytes of a stream; true if an error event begins in them. */
export type ErrorWatch = (bytes: Buffer) => boolean;

/** A watch over one stream. */
export function createErrorWatch(): ErrorWatch {
  let before = '\n';
  return (bytes) => {
    const seam = before + bytes.toString('latin1', 0, SEAM_BYTES);
    before = seam.length > SEAM_BYTES || bytes.length > SEAM_BYTES ? endOf(seam, bytes) : seam;
    if (ERROR_EVENT.test(seam)) return true;
    if (bytes.length <= SEAM_BYTES || !mentionsFailure(bytes)) return false;
    return ERROR_EVENT.test(bytes.toString('latin1'));
  };
}

function endOf(seam: string, bytes: Buffer): string {
  if (bytes.length < SEAM_BYTES) return seam.slice(-SEAM_BYTES);
  return bytes.toString('latin1', bytes.length - SEAM_BYTES);
}

function mentionsFailure(bytes: Buffer): boolean {
  return bytes.includes('error') || bytes.includes('response.failed');
}
