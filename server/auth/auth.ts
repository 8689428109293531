/**
 * Proxy keys, which clients on other machines send in `X-Svc-Key`. `svc auth` writes the store, a
 * running server reads it. A key is 256 random bits and is shown once; the store holds its SHA-256,
 * which needs neither salt nor a slow hash for a random key.
 */
import { timingSafeEqual } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import type { Clock } from '../../engine/clock.ts';
import { SvcError, toSvcError } from '../../engine/error.ts';
import { digest, keyChanges, limitsOf, mergeKeys } from './key-changes.ts';
import type { Changed, KeyChange, KeyEdits, NewKey, RandomBytes, Rotation } from './key-changes.ts';
import { isRight } from './rights.ts';
import type { Rights } from './rights.ts';
import { cutText } from '../../engine/index.ts';
import { MAX_NAME_CHARS } from '../../stages/model/project.ts';
import type { Caller } from '../../stages/model/caller.ts';
import { type StoredKey, changeKeys, readKeys } from './store.ts';

export type { StoredKey } from './store.ts';

export { generateKey } from './key-changes.ts';
export type { KeyEdits as KeyChanges, KeyLimits, RandomBytes } from './key-changes.ts';

/**
 * Admitted by a key. `keyId` is the stored key's id, or `config` for `security.api_key`; it is not
 * a secret.
 */
export interface Keyed {
  readonly verdict: 'keyed';
  readonly keyId: string;
  /** Rights of the key; absent if it has none. */
  readonly may?: Rights;
  /** Caller recorded in the ledger rows of its requests. */
  readonly caller: Caller;
}

/** `dead` is a former key of this proxy: revoked, rotated away or expired. */
export type KeyVerdict = Keyed | 'dead' | 'unknown';

export interface KeyCheck {
  /** Compares a presented key with all keys, in a time that does not reveal near matches. */
  check(presented: string): KeyVerdict;
}

/**
 * The operations of `svc auth` on the store. Each reads and writes the file; two concurrent calls
 * do not lose a key.
 */
export type KeyStore = ReturnType<typeof openKeyStore>;

/**
 * Opens the store in `file` (mode 0600; it need not exist yet). Its methods throw `config` if the
 * file is unreadable.
 */
export function openKeyStore(options: { file: string; clock: Clock; random: RandomBytes }) {
  const { file, clock } = options;
  const changes = keyChanges(options);
  function apply<R>(change: KeyChange<R>): R {
    let changed: Changed<R> | undefined;
    changeKeys(file, clock.wallMs(), (keys) => {
      changed = change(keys);
      return changed.keys;
    });
    if (changed === undefined) throw new SvcError('internal', 'The key store was not changed');
    return changed.result;
  }
  return {
    create: (traits: NewKey) => apply(changes.create(traits)),
    rotate: (idOrLabel: string, rotation: Rotation) => apply(changes.rotate(idOrLabel, rotation)),
    update: (idOrLabel: string, edits: KeyEdits) => apply(changes.update(idOrLabel, edits)),
    revoke: (idOrLabel: string) => apply(changes.revoke(idOrLabel)),
    /** Returns all keys, oldest first, including revoked and expired ones. */
    list: (): readonly StoredKey[] => readKeys(file),
  };
}

/** The keys of a running server. */
export interface Keyring extends KeyCheck {
  /**
   * Replaces `security.api_key`; the previous one is remembered as rotated away until the process
   * ends.
   */
  setConfigKey(key: string | undefined): void;
  /** Replaces the keys shared by proxies with one ledger. */
  setSharedKeys(keys: readonly StoredKey[]): void;
  /** Returns the stored digest of a valid key, for signing data bound to it. */
  digestOf(keyId: string): Buffer | undefined;
  /** Returns the id of the configured key, else of the newest stored one, if it is valid. */
  newestId(): string | undefined;
}

const REREAD_MS = 1000;
const REMEMBERED_KEYS = 16;
// Far above any key; avoids hashing a header-sized value.
const MAX_KEY_CHARS = 1024;

interface KnownKey {
  readonly digest: Buffer;
  readonly admits: Keyed;
  readonly isRevoked: boolean;
  readonly expiresMs: number;
}

/**
 * Creates the keys of `file` and of the configuration, for the gate. A changed file is noticed
 * within a second of use. If the file cannot be read, or other users can write it, the last keys
 * stay in force (none at start) and `onFault` is called once per change.
 */
export function createKeyring(options: {
  file: string;
  configKey?: string | undefined;
  clock: Clock;
  onFault?: (fault: SvcError) => void;
  /** Longest interval between checks of the file; default one second. */
  rereadMs?: number;
}): Keyring {
  const { file, clock, rereadMs = REREAD_MS } = options;
  let ofHome: readonly StoredKey[] = [];
  let shared: readonly StoredKey[] = [];
  let stored: readonly KnownKey[] = [];
  let config: readonly KnownKey[] = [];
  let all: readonly KnownKey[] = [];
  let seen = '';
  let nextCheckMs = Number.NEGATIVE_INFINITY;

  function merge(): void {
    stored = mergeKeys(ofHome, shared).map(toKnownKey);
    all = [...config, ...stored];
  }

  function check(): void {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextCheckMs) return;
    nextCheckMs = nowMs + rereadMs;
    const state = fileState(file);
    if (state === seen) return;
    seen = state;
    try {
      ofHome = readKeys(file);
      merge();
    } catch (error) {
      options.onFault?.(toSvcError(error));
    }
  }

  const isLive = ({ isRevoked, expiresMs }: KnownKey): boolean =>
    !isRevoked && expiresMs > clock.wallMs();

  const keyring: Keyring = {
    digestOf(keyId) {
      check();
      return all.find((known) => known.admits.keyId === keyId && isLive(known))?.digest;
    },
    newestId() {
      check();
      return (config.find(isLive) ?? stored.findLast(isLive))?.admits.keyId;
    },
    setSharedKeys(keys) {
      shared = keys;
      merge();
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
      check();
      if (all.length === 0 || presented === '' || presented.length > MAX_KEY_CHARS)
        return 'unknown';
      const offered = digest(presented);
      let found: KnownKey | undefined;
      // No early exit: the time must not depend on which key matches.
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
  const may = (key.may ?? []).filter(isRight);
  return {
    digest: Buffer.from(key.sha256, 'hex'),
    admits: Object.freeze({
      verdict: 'keyed',
      keyId: key.id,
      ...(may.length > 0 && { may }),
      caller: toCaller(key),
    }),
    isRevoked: key.revoked !== undefined,
    expiresMs: key.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires),
  };
}

const CONFIG_CALLER: Caller = Object.freeze({ keyId: 'config', label: 'security.api_key' });

function toCaller(key: StoredKey): Caller {
  const { id, label } = key;
  const { perDayUsd, perMonthUsd, ...limits } = limitsOf(key);
  return Object.freeze({
    keyId: id,
    label: label === '' ? id : cutText(label, MAX_NAME_CHARS),
    ...limits,
    ...(perDayUsd !== undefined && { perDayNanoUsd: Math.round(perDayUsd * 1e9) }),
    ...(perMonthUsd !== undefined && { perMonthNanoUsd: Math.round(perMonthUsd * 1e9) }),
  });
}

function toConfigKey(key: string): KnownKey {
  return {
    digest: digest(key),
    admits: Object.freeze({ verdict: 'keyed', keyId: 'config', caller: CONFIG_CALLER }),
    isRevoked: false,
    expiresMs: Number.POSITIVE_INFINITY,
  };
}

/**
 * Returns a text that changes whenever the file does; a rename over it changes the inode even
 * within one tick of mtime.
 */
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
