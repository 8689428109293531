/** Reads a file line by line, whatever its length. */
import { createReadStream } from 'node:fs';

const LINE_FEED = 0x0a;
/** In bytes; a longer line is skipped. A pasted image or a whole log is far smaller. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Yields each line without its end; undefined for one that is too long. Throws file system errors.
 */
export async function* linesOf(
  path: string,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<string | undefined> {
  let pieces: Buffer[] = [];
  let sizeBytes = 0;
  const take = (): string | undefined => {
    const line = sizeBytes > maxBytes ? undefined : Buffer.concat(pieces).toString('utf8');
    pieces = [];
    sizeBytes = 0;
    return line;
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const bytes = chunk as Buffer;
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(LINE_FEED, from);
      const piece = bytes.subarray(from, end < 0 ? undefined : end);
      sizeBytes += piece.length;
      if (sizeBytes > maxBytes) pieces = [];
      else pieces.push(piece);
      if (end < 0) break;
      yield take();
      from = end + 1;
    }
  }
  if (sizeBytes > 0) yield take();
}
