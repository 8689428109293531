/** The lines of the log as bytes, because decoding could make different bytes equal. */
import type { FileHandle } from 'node:fs/promises';

export interface AuditLine {
  /** Without its line break. */
  readonly bytes: Buffer;
  /** Its offset in the file. */
  readonly offset: number;
  /** False for data after the last line break. */
  readonly isWhole: boolean;
}

const BLOCK_BYTES = 256 * 1024;
/** No record is longer; longer data is returned in pieces, none of which is a record. */
const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Yields every line from the first on. */
export async function* readLines(handle: FileHandle): AsyncGenerator<AuditLine> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.alloc(BLOCK_BYTES),
      0,
      BLOCK_BYTES,
      position,
    );
    if (bytesRead === 0) break;
    position += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (;;) {
      const end = rest.indexOf(NEWLINE);
      if (end < 0 && rest.length <= MAX_LINE_BYTES) break;
      const bytes = end < 0 ? rest : rest.subarray(0, end);
      yield { bytes, offset, isWhole: true };
      const taken = end < 0 ? rest.length : end + 1;
      offset += taken;
      rest = rest.subarray(taken);
    }
  }
  if (rest.length > 0) yield { bytes: rest, offset, isWhole: false };
}

/** Returns the last complete line, and its end; `endsAt` is 0 if there is none. */
export async function lastLine(
  handle: FileHandle,
  sizeBytes: number,
): Promise<{ readonly bytes: Buffer; readonly endsAt: number }> {
  for (let span = 8192; ; span *= 4) {
    const from = Math.max(0, sizeBytes - span);
    const block = Buffer.alloc(sizeBytes - from);
    await handle.read(block, 0, block.length, from);
    const end = block.lastIndexOf(NEWLINE);
    const before = end <= 0 ? -1 : block.lastIndexOf(NEWLINE, end - 1);
    if (end >= 0 && (before >= 0 || from === 0))
      return { bytes: block.subarray(before + 1, end), endsAt: from + end + 1 };
    if (from === 0) return { bytes: Buffer.alloc(0), endsAt: 0 };
    if (span > MAX_LINE_BYTES) return { bytes: Buffer.alloc(0), endsAt: from + end + 1 };
  }
}
