/**
 * The files of the audit log in the home folder: the log, the key of its chain, the anchor of its
 * end, and the lock for appending. All have mode 0600, and no link is followed.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { reasonOf } from '../disk-reason.ts';
import { replaceFile } from '../private-file.ts';
import type { ChainEnd } from './record.ts';
import { EMPTY_CHAIN, macOf } from './record.ts';

/** Absolute paths. */
export interface AuditFiles {
  readonly log: string;
  readonly key: string;
  /** The anchor: the last record, sealed. */
  readonly headFile: string;
  readonly lock: string;
}

const KEY_BYTES = 32;
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
const APPEND = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW;

/** Returns the files of a home folder. */
export function auditFiles(home: string): AuditFiles {
  const at = (name: string) => join(home, name);
  return {
    log: at('audit.jsonl'),
    key: at('audit.key'),
    headFile: at('audit.head'),
    lock: at('audit.lock'),
  };
}

/**
 * Opens for reading; undefined if there is no such file. Throws `config` for a link and anything
 * else that cannot be read.
 */
export async function openToRead(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SvcError('config', `${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** Opens the log for appending, private whatever the umask. */
export async function openToAppend(path: string): Promise<FileHandle> {
  const handle = await open(path, APPEND, 0o600);
  await handle.chmod(0o600);
  return handle;
}

/**
 * Returns the key of the chain; undefined if there is none. Throws `config` for a file that is not
 * an audit key, or not private.
 */
export async function readKey({ key: path }: AuditFiles): Promise<Buffer | undefined> {
  const handle = await openToRead(path);
  if (handle === undefined) return undefined;
  try {
    const { mode } = await handle.stat();
    if ((mode & 0o077) !== 0)
      throw new SvcError('config', `${path} can be read by others, so it proves nothing`, {
        cure: `If nobody has read it: chmod 600 ${path}`,
      });
    const text = (await handle.readFile('latin1')).trim();
    if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex');
    throw new SvcError('config', `${path} does not contain an audit log key`);
  } finally {
    await handle.close();
  }
}

/** Creates the key, once. */
export async function createKey({ key: path }: AuditFiles): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  await replaceFile(path, (draft) => draft.writeFile(`${key.toString('hex')}\n`));
  return key;
}

/**
 * Returns the anchored end of the chain; `forged` if the file has other content than `writeAnchor`
 * writes; undefined if there is none.
 */
export async function readAnchor(
  { headFile }: AuditFiles,
  key: Buffer,
): Promise<ChainEnd | 'forged' | undefined> {
  const handle = await openToRead(headFile);
  if (handle === undefined) return undefined;
  try {
    const text = await handle.readFile('latin1');
    const match = /^(\d{1,15}) ([0-9a-f]{64}) [0-9a-f]{64}\n$/.exec(text);
    const end = { seq: Number(match?.[1]), mac: match?.[2] ?? '' };
    return match !== null && text === anchorText(key, end) ? end : 'forged';
  } finally {
    await handle.close();
  }
}

/** Anchors `end`, whose record must already be on the disk. */
export async function writeAnchor(
  { headFile }: AuditFiles,
  key: Buffer,
  end: ChainEnd = EMPTY_CHAIN,
): Promise<void> {
  await replaceFile(headFile, (draft) => draft.writeFile(anchorText(key, end)));
}

function anchorText(key: Buffer, { seq, mac }: ChainEnd): string {
  const text = `${seq} ${mac}`;
  return `${text} ${macOf(key, `anchor ${text}`)}\n`;
}
