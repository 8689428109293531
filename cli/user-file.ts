/** Creates user files in the home folder, which `--force` may replace. */
import { dirname } from 'node:path';
import { SvcError } from '../engine/error.ts';
import { createPrivateFile, ensurePrivateFolder, writePrivateFile } from '../server/config/home.ts';

/** Message and cure of a conflict. */
interface Taken {
  readonly message: string;
  readonly cure: string;
}

/** Writes `path`. Throws `conflict` with the words of `taken` if it exists and is not forced. */
export function writeOwnFile(path: string, text: string, isForced: boolean, taken: Taken): void {
  ensurePrivateFolder(dirname(path));
  if (isForced) return writePrivateFile(path, text);
  try {
    createPrivateFile(path, text);
  } catch (cause) {
    if (!(cause instanceof SvcError) || cause.kind !== 'conflict') throw cause;
    throw new SvcError('conflict', taken.message, { cause, cure: taken.cure });
  }
}
