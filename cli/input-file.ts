/** Reads the input files of commands. */
import { readFileSync } from 'node:fs';
import { SvcError } from '../engine/error.ts';
import { reasonOf } from '../stages/disk-reason.ts';

/**
 * Reads a file.
 *
 * @throws SvcError `not_found` if it does not exist, `bad_request` if it cannot be read.
 */
export function readInput(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new SvcError('not_found', `There is no file ${path}`, { cause });
    throw new SvcError('bad_request', `${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}
