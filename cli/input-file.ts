/** Files that a command is given to read. */
import { readFileSync } from 'node:fs';
import { SvcError } from '../engine/error.ts';
import { reasonOf } from '../stages/disk-reason.ts';

/** @throws SvcError `not_found` where there is none, `bad_request` where it cannot be read. */
export function readInput(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw new SvcError('not_found', `There is no file ${path}`, { cause });
    throw new SvcError('bad_request', `${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}
