/**
 * Proxy keys: what clients on other machines send in `X-Svc-Key`. `svc auth` writes the
 * store, a running server reads it. A key is 256 random bits and is shown once; the store
 * holds its SHA-256, which for a random key needs no salt and no slow hash.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import type { Clock } from '../../engine/clock.ts';
import { SvcError, toSvcError } from '../../engine/error.ts';
import { type StoredKey, changeKeys, readKeys } from './store.ts';

export type { StoredKey } from './store.ts';

/** Returns `size` random bytes. */
export type RandomBytes = (size: number) => Buffer;

/** Let in by a key. `keyId` is the stored key's id, or `config` for `security.api_key`; it is no secret. */
export interface Keyed {
  readonly verdict: 'keyed';
  readonly keyId: string;
}

/** `dead` is a key that was ours: revoked, rotated away or expired. */
export type KeyVerdict = Keyed | 'dead' | 'unknown';

export interface KeyCheck {
  /** Judges a presented key against all keys, in a time that does not reveal which came close. */
  check(presented: string): KeyVerdict;
}

const KEY_PREFIX = 'svc_';
const KEY_BYTES = 32;
const ID_BYTES = 4;

/** A new key: `svc_` and 43 base64url characters. */
export function generateKey(random: RandomBytes): string {
  return KEY_PREFIX + random(KEY_BYTES).toString('base64url');
}

/** What `svc auth` does to the store. Each call reads and writes the file; two at once do not lose a key. */
export type KeyStore = ReturnType<typeof openKeyStore>;

/** Opens the store in `file` (mode 0600; it need not exist yet). Its methods throw `config` when the file is unreadable. */
export function openKeyStore(options: { file: string; clock: Clock; random: RandomBytes }) {
  const { file, clock, random } = options;
  return {
    /** Makes and stores a key. `key` is the only copy there will ever be. `expiresInS` is in seconds from now. */
    create({ label, expiresInS }: { label: string; expiresInS?: number }): {
      key: string;
      stored: StoredKey;
    } {
      const nowMs = clock.wallMs();
      const made = makeKey(random, label, nowMs, expiresInS);
      changeKeys(file, nowMs, (keys) => [...keys, made.stored]);
      return made;
    },
    /**
     * Makes a key in the place of another, with its label and, unless `expiresInS` is given, its span
     * of life. Both are valid for `graceS` seconds, or until the old one expires, if that is earlier.
     * Throws as `revoke` does; of keys with one label the one that was not replaced yet is meant.
     */
    rotate(
      idOrLabel: string,
      { graceS, expiresInS }: { graceS: number; expiresInS?: number },
    ): { key: string; stored: StoredKey; replaced: StoredKey } {
      const nowMs = clock.wallMs();
      let result: ReturnType<KeyStore['rotate']> | undefined;
      changeKeys(file, nowMs, (keys) => {
        const isOver = ({ expires }: StoredKey) =>
          expires !== undefined && Date.parse(expires) <= nowMs;
        const isCurrent = (key: StoredKey) =>
          key.id === idOrLabel || (key.replacedBy === undefined && !isOver(key));
        const old = findLive(keys.filter(isCurrent), idOrLabel);
        if (isOver(old))
          throw new SvcError('not_found', `Key ${old.id} has expired: there is nothing to go on`, {
            cure: '`svc auth --generate` makes a key.',
          });
        const made = makeKey(random, old.label, nowMs, expiresInS ?? spanOf(old));
        const endMs = Math.min(nowMs + graceS * 1000, Date.parse(old.expires ?? FOREVER));
        const replaced: StoredKey = {
          ...old,
          expires: new Date(endMs).toISOString(),
          replacedBy: made.stored.id,
        };
        result = { ...made, replaced };
        return [...keys.map((key) => (key === old ? replaced : key)), made.stored];
      });
      if (result === undefined) throw new SvcError('internal', 'The key store was not changed');
      return result;
    },
    /** All keys, oldest first, revoked and expired ones included. */
    list: (): readonly StoredKey[] => readKeys(file),
    /** Revokes by id, or by label where one live key has it. Throws `not_found`, or `conflict` for an ambiguous label. */
    revoke(idOrLabel: string): StoredKey {
      const nowMs = clock.wallMs();
      let revoked: StoredKey | undefined;
      changeKeys(file, nowMs, (keys) => {
        const target = findLive(keys, idOrLabel);
        revoked = { ...target, revoked: new Date(nowMs).toISOString() };
        const replacement = revoked;
        return keys.map((key) => (key === target ? replacement : key));
      });
      if (revoked === undefined) throw new SvcError('internal', 'The key store was not changed');
      return revoked;
    },
  };
}

const FOREVER = '9999-12-31T00:00:00Z';

function makeKey(
  random: RandomBytes,
  label: string,
  nowMs: number,
  expiresInS: number | undefined,
): { key: string; stored: StoredKey } {
  const key = generateKey(random);
  const stored: StoredKey = {
    id: random(ID_BYTES).toString('hex'),
    label,
    sha256: digest(key).toString('hex'),
    created: new Date(nowMs).toISOString(),
    ...(expiresInS === undefined
      ? {}
      : { expires: new Date(nowMs + expiresInS * 1000).toISOString() }),
  };
  return { key, stored };
}

/** How long a key was meant to live, in seconds; undefined for ever. */
function spanOf({ created, expires }: StoredKey): number | undefined {
  return expires === undefined ? undefined : (Date.parse(expires) - Date.parse(created)) / 1000;
}

/** The keys of a running server. */
export interface Keyring extends KeyCheck {
  /** Replaces `security.api_key`; the former one is remembered as rotated away while the process lives. */
  setConfigKey(key: string | undefined): void;
  /** What is kept of a key that is valid now, for signing what is bound to it. */
  digestOf(keyId: string): Buffer | undefined;
  /** The key of the configuration, else the stored one that was made last, as long as it is valid. */
  newestId(): string | undefined;
}

const REREAD_MS = 1000;
const REMEMBERED_KEYS = 16;
// Far above any key; spares hashing what fills a whole header.
const LONGEST_KEY = 1024;

interface KnownKey {
  readonly digest: Buffer;
  readonly admits: Keyed;
  readonly isRevoked: boolean;
  readonly expiresMs: number;
}

/**
 * The keys of `file` and of the configuration, for the gate. A changed file is noticed within
 * a second of use. A file that cannot be read, or that others may write, leaves the keys that
 * were read last (none at start) and is reported to `onFault` once per change.
 */
export function createKeyring(options: {
  file: string;
  configKey?: string | undefined;
  clock: Clock;
  onFault?: (fault: SvcError) => void;
}): Keyring {
  const { file, clock } = options;
  let stored: readonly KnownKey[] = [];
  let config: readonly KnownKey[] = [];
  let all: readonly KnownKey[] = [];
  let seen = '';
  let nextLookMs = Number.NEGATIVE_INFINITY;

  function look(): void {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextLookMs) return;
    nextLookMs = nowMs + REREAD_MS;
    const state = fileState(file);
    if (state === seen) return;
    seen = state;
    try {
      stored = readKeys(file).map(toKnownKey);
      all = [...config, ...stored];
    } catch (error) {
      options.onFault?.(toSvcError(error));
    }
  }

  const isLive = ({ isRevoked, expiresMs }: KnownKey): boolean =>
    !isRevoked && expiresMs > clock.wallMs();

  const keyring: Keyring = {
    digestOf(keyId) {
      look();
      return all.find((known) => known.admits.keyId === keyId && isLive(known))?.digest;
    },
    newestId() {
      look();
      return (config.find(isLive) ?? stored.findLast(isLive))?.admits.keyId;
    },
    setConfigKey(key) {
      const retired = config.map((known) => ({ ...known, isRevoked: true }));
      const current = key === undefined || key === '' ? [] : [toConfigKey(key)];
      const isCurrent = (known: KnownKey) => current[0]?.digest.equals(known.digest) === true;
      config = [...current, ...retired.filter((known) => !isCurrent(known))];
      config = config.slice(0, REMEMBERED_KEYS);
      all = [...config, ...stored];
    },
    check(presented) {
      look();
      if (presented === '' || presented.length > LONGEST_KEY) return 'unknown';
      const offered = digest(presented);
      let found: KnownKey | undefined;
      // No early end: the time must not depend on which key matches.
      for (const known of all) {
        if (timingSafeEqual(known.digest, offered)) found ??= known;
      }
      if (found === undefined) return 'unknown';
      return isLive(found) ? found.admits : 'dead';
    },
  };
  keyring.setConfigKey(options.configKey);
  return keyring;
}

function toKnownKey(key: StoredKey): KnownKey {
  return {
    digest: Buffer.from(key.sha256, 'hex'),
    admits: Object.freeze({ verdict: 'keyed', keyId: key.id }),
    isRevoked: key.revoked !== undefined,
    expiresMs: key.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires),
  };
}

function toConfigKey(key: string): KnownKey {
  return {
    digest: digest(key),
    admits: Object.freeze({ verdict: 'keyed', keyId: 'config' }),
    isRevoked: false,
    expiresMs: Number.POSITIVE_INFINITY,
  };
}

function findLive(keys: readonly StoredKey[], idOrLabel: string): StoredKey {
  const live = keys.filter((key) => key.revoked === undefined);
  const byId = live.find((key) => key.id === idOrLabel);
  if (byId !== undefined) return byId;
  const byLabel = live.filter((key) => key.label === idOrLabel);
  if (byLabel.length > 1) {
    throw new SvcError('conflict', `${byLabel.length} keys have this label; give the id instead`);
  }
  const [only] = byLabel;
  if (only === undefined)
    throw new SvcError('not_found', 'No valid key has this id or label', {
      cure: '`svc auth list` shows them.',
    });
  return only;
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Changes whenever the file does; a rename over it changes the inode even within one tick of mtime. */
function fileState(file: string): string {
  let stats: BigIntStats | undefined;
  try {
    stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return 'unreadable';
  }
  return stats === undefined
    ? 'absent'
    : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.mode}`;
}
