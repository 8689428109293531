/** The home folder of svc, and private files in it. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { makeFolders } from '../../stages/folder.ts';

/** Replaces a leading `~` by `userHome`, and makes the path absolute from `base`. */
export function absolutePath(path: string, base: string, userHome: string): string {
  if (path === '~') return userHome;
  if (path.startsWith('~/')) return join(userHome, path.slice(2));
  return isAbsolute(path) ? path : resolve(base, path);
}

/**
 * Returns `$SVC_HOME`, or `.svc` in the user's home; absolute. Call it when needed, never at
 * import.
 */
export function resolveHome(
  variables: Readonly<Record<string, string | undefined>>,
  userHome: string,
  cwd: string,
): string {
  const configured = variables['SVC_HOME'];
  return configured === undefined || configured === ''
    ? join(userHome, '.svc')
    : absolutePath(configured, cwd, userHome);
}

/**
 * Returns the path of the file with decisions that must be the same in every turn of a
 * conversation, including texts added from files.
 */
export function decisionsFile(home: string): string {
  return join(home, 'decisions.jsonl');
}

/**
 * Creates `folder` and its parents with mode 0700 whatever the umask, and tightens an existing
 * folder that other users can enter.
 *
 * @throws SvcError `config` if it cannot be created, is not a folder, or belongs to someone else.
 */
export function ensurePrivateFolder(folder: string): void {
  try {
    makeFolders(folder);
    const stat = fs.statSync(folder);
    if (!stat.isDirectory()) throw new Error('it is not a folder');
    const own = process.getuid?.();
    if (own !== undefined && stat.uid !== own) throw new Error('it belongs to another user');
    if ((stat.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
  } catch (cause) {
    throw new SvcError('config', `Cannot use the folder ${folder}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Like `ensurePrivateFolder`, for the home folder, in which svc must be able to write.
 *
 * @throws SvcError `config` with cause and cure otherwise.
 */
export function ensureHome(home: string): void {
  try {
    ensurePrivateFolder(home);
    fs.accessSync(home, fs.constants.W_OK);
  } catch (thrown) {
    const cause = thrown instanceof SvcError ? thrown.cause : thrown;
    throw new SvcError('config', `Cannot use the home folder ${home}: ${reasonOf(cause)}`, {
      cause,
      cure: 'svc keeps its ledger, log and keys there. Set SVC_HOME to a folder of your own that can be written.',
    });
  }
}

/**
 * Writes `content` to `path` atomically, with mode 0600 whatever the umask: a reader sees the old
 * file or the whole new one. A link planted at `path` is replaced, never followed.
 *
 * @throws SvcError `config` if it cannot be written; nothing is left behind.
 */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    writeNew(temporary, content);
    fs.renameSync(temporary, path);
  } catch (cause) {
    fs.rmSync(temporary, { force: true });
    throw new SvcError('config', `Cannot write ${path}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Like `writePrivateFile`, but never overwrites an existing file.
 *
 * @throws SvcError `conflict` if one exists, `config` if it cannot be written.
 */
export function createPrivateFile(path: string, content: string | Uint8Array): void {
  try {
    writeNew(path, content);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new SvcError('conflict', `${path} exists already`, { cause });
    }
    throw new SvcError('config', `Cannot write ${path}: ${reasonOf(cause)}`, { cause });
  }
}

function writeNew(path: string, content: string | Uint8Array): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
  const file = fs.openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    // The umask can only remove bits, but a default ACL of the folder can add some.
    fs.fchmodSync(file, 0o600);
    fs.writeFileSync(file, content);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}
