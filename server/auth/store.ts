/**
 * The file of proxy keys, `$SVC_HOME/keys.json`: JSON, mode 0600, replaced as a whole by a rename.
 * It holds hashes, so reading it reveals no key; writing to it would create one, so a file that
 * other users can write is refused.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { withPath } from '../../stages/disk-reason.ts';
import { makeFolders } from '../../stages/folder.ts';
import { isObject } from '../../stages/dialect/json-kind.ts';

/** One stored proxy key. Times are ISO 8601 in UTC. */
export interface StoredKey {
  readonly id: string;
  readonly label: string;
  /** SHA-256 of the key, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly created: string;
  readonly expires?: string;
  readonly revoked?: string;
  /**
   * Rights (`rights.ts`), including ones that only a newer version knows; absent if there are
   * none.
   */
  readonly may?: readonly string[];
  /** Project to which its requests are attributed. */
  readonly project?: string;
  /** Models it may use, as in `Caller`. */
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  /** Spending limits of its requests per UTC day and month, in US dollars. */
  readonly perDayUsd?: number;
  readonly perMonthUsd?: number;
  /** Id of the key that replaced it; it stays valid until it expires. */
  readonly replacedBy?: string;
}

const FORMAT = 1;
const STALE_LOCK_MS = 10_000;

/**
 * Returns all keys of `file`, in its order; none if it is absent. Throws `config` if it cannot be
 * trusted or parsed.
 */
export function readKeys(file: string): readonly StoredKey[] {
  let text: string;
  try {
    const descriptor = openSync(file, 'r');
    try {
      refuseWritableByOthers(file, descriptor);
      text = readFileSync(descriptor, 'utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return [];
    if (error instanceof SvcError) throw error;
    throw unreadable(file, 'it cannot be read', error);
  }
  return parseKeys(file, text);
}

/**
 * Replaces the keys with `change(keys)`. The temporary file is opened exclusively and thus also
 * serves as the lock: a second writer gets `conflict`. A file left by a crash is taken over after
 * ten seconds. Throws what `change` throws, `config` as `readKeys` does, and file system errors
 * with the path.
 */
export function changeKeys(
  file: string,
  nowMs: number,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[],
): void {
  makeFolders(dirname(file));
  const next = `${file}.new`;
  const descriptor = openExclusively(next, nowMs);
  let isRenamed = false;
  try {
    try {
      const keys = change(readKeys(file));
      // Writes everything or throws: a single write may be partial when the disk is full.
      writeFileSync(descriptor, `${JSON.stringify({ format: FORMAT, keys }, undefined, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, file);
    isRenamed = true;
  } catch (error) {
    throw withPath(error, file);
  } finally {
    if (!isRenamed) unlinkSync(next);
  }
}

function openExclusively(path: string, nowMs: number): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw unreadable(path, 'it cannot be written', error);
  }
  const age = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
  if (nowMs - age > STALE_LOCK_MS) {
    unlinkSync(path);
    return openSync(path, 'wx', 0o600);
  }
  throw new SvcError('conflict', 'Another command is changing the proxy keys', {
    cure: 'Try again in a moment.',
  });
}

function refuseWritableByOthers(file: string, descriptor: number): void {
  const stats = fstatSync(descriptor);
  const owner = process.getuid?.();
  if ((stats.mode & 0o022) !== 0) throw unreadable(file, 'other users can write it');
  if (owner !== undefined && stats.uid !== owner && stats.uid !== 0) {
    throw unreadable(file, 'it belongs to another user');
  }
}

function parseKeys(file: string, text: string): readonly StoredKey[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw unreadable(file, 'it is not JSON', error);
  }
  if (!isObject(parsed) || parsed['format'] !== FORMAT || !Array.isArray(parsed['keys'])) {
    throw unreadable(file, 'it is not a key store of this version');
  }
  const keys: readonly unknown[] = parsed['keys'];
  if (!keys.every(isStoredKey)) throw unreadable(file, 'it holds an entry that is not a key');
  return keys;
}

/** True for a usable key, whatever fields a newer version added. */
export function isStoredKey(value: unknown): value is StoredKey {
  if (!isObject(value)) return false;
  const { id, label, sha256, created, expires, revoked, may, replacedBy } = value;
  const { project, models, providers, perDayUsd, perMonthUsd } = value;
  return (
    typeof id === 'string' &&
    typeof label === 'string' &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    isTime(created) &&
    (expires === undefined || isTime(expires)) &&
    (revoked === undefined || isTime(revoked)) &&
    [may, models, providers].every((list) => list === undefined || isTexts(list)) &&
    (project === undefined || typeof project === 'string') &&
    [perDayUsd, perMonthUsd].every((usd) => usd === undefined || isAmount(usd)) &&
    (replacedBy === undefined || typeof replacedBy === 'string')
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0;
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function unreadable(file: string, reason: string, cause?: unknown): SvcError {
  return new SvcError('config', `The key store ${file} is not used: ${reason}`, {
    cause,
    cure: 'Fix it, or move it away; then create all keys again with `svc auth --generate`.',
  });
}
