/**
 * Makes folders without node's own recursion, which never ends if a file system refuses with ENOENT
 * (as /proc does).
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes `folder` and its missing parents with mode 0700 less the umask. Returns true if it was
 * missing; an existing entry of any kind is left alone. Throws the error of the file system.
 */
export function makeFolders(folder: string): boolean {
  const first = tryFolder(folder);
  if (first !== 'no parent') return first === 'made';
  const parent = dirname(folder);
  if (parent !== folder) makeFolders(parent);
  const second = tryFolder(folder);
  if (second !== 'no parent') return second === 'made';
  const message = `no folder can be made in ${parent}`;
  throw Object.assign(new Error(message), { code: 'ENOTSUP', path: folder });
}

function tryFolder(folder: string): 'made' | 'there' | 'no parent' {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return 'made';
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return 'there';
    if (code === 'ENOENT') return 'no parent';
    throw thrown;
  }
}
