/**
 * A user's files of one kind in one folder, each identified by its name: `NAME` and the kind's
 * extension.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../engine/index.ts';
import { reasonOf } from './disk-reason.ts';

/** Valid names of such files. */
export const FILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * Accesses files of a `kind`, such as `macro`, with this extension and at most `maxBytes` bytes.
 */
export function namedFiles(kind: string, extension: string, maxBytes: number) {
  const title = kind[0]!.toUpperCase() + kind.slice(1);
  const file = (folder: string, name: string): string => {
    if (FILE_NAME.test(name)) return join(folder, name + extension);
    throw new SvcError(
      'bad_request',
      `${JSON.stringify(name.slice(0, 80))} cannot be the name of a ${kind}: use lower-case letters, digits, - and _`,
    );
  };
  return {
    /**
     * Returns the path. Throws `bad_request` for an invalid name, so that none leads out of the
     * folder.
     */
    file,
    /** Returns all names, sorted. */
    names(folder: string): readonly string[] {
      try {
        return readdirSync(folder)
          .filter((each) => each.endsWith(extension))
          .map((each) => each.slice(0, -extension.length))
          .filter((name) => FILE_NAME.test(name))
          .toSorted();
      } catch {
        return [];
      }
    },
    /**
     * Returns the file's text, or undefined if there is no such file. Throws `bad_request` if it
     * cannot be read.
     */
    source(folder: string, name: string): string | undefined {
      const path = file(folder, name);
      try {
        if (statSync(path).size <= maxBytes) return readFileSync(path, 'utf8');
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        const text = `${title} ${name} cannot be read: ${reasonOf(cause)}`;
        throw new SvcError('bad_request', text, { cause });
      }
      throw new SvcError('bad_request', `${title} ${name} is larger than ${maxBytes} bytes`);
    },
  };
}
