/**
 * Proxy keys: what clients on other machines send in `X-Svc-Key`. `svc auth` writes the
 * store, a running server reads it. A key is 256 random bits and is shown once; the store
 * holds its SHA-256, which for a random key needs no salt and no slow hash.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import type { Clock } from '../../engine/clock.ts';
import { SvcError, toSvcError } from '../../engine/error.ts';
import { isRight } from './rights.ts';
import type { Rights } from './rights.ts';
import { cutText } from '../../engine/index.ts';
import { MAX_NAME_CHARS } from '../../stages/model/project.ts';
import type { Caller } from '../../stages/model/caller.ts';
import { type StoredKey, changeKeys, readKeys } from './store.ts';

export type { StoredKey } from './store.ts';

/** Returns `size` random bytes. */
export type RandomBytes = (size: number) => Buffer;

/** Let in by a key. `keyId` is the stored key's id, or `config` for `security.api_key`; it is no secret. */
export interface Keyed {
  readonly verdict: 'keyed';
  readonly keyId: string;
  /** What the key was made with the right to; absent where that is nothing. */
  readonly may?: Rights;
  /** What rows say of its requests. */
  readonly caller: Caller;
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
    create(traits: Omit<Traits, 'may'> & { may?: Rights }): {
      key: string;
      stored: StoredKey;
    } {
      const nowMs = clock.wallMs();
      const made = makeKey(random, nowMs, traits);
      changeKeys(file, nowMs, (keys) => [...keys, made.stored]);
      return made;
    },
    /**
     * Makes a key in the place of another, with its label, its rights and limits and, unless `expiresInS` is
     * given, its span of life. Both are valid for `graceS` seconds, or until the old one expires, if that is earlier.
     * Throws as `revoke` does; of keys with one label the one that was not replaced yet is meant.
     */
    rotate(
      idOrLabel: string,
      { graceS, expiresInS }: { graceS: number; expiresInS?: number },
    ): { key: string; stored: StoredKey; replaced: StoredKey } {
      const nowMs = clock.wallMs();
      let result: ReturnType<KeyStore['rotate']> | undefined;
      changeKeys(file, nowMs, (keys) => {
        const old = findCurrent(keys, idOrLabel, nowMs);
        const { label, may } = old;
        const span = expiresInS ?? spanOf(old);
        const made = makeKey(random, nowMs, {
          label,
          expiresInS: span,
          may,
          ...limitsOf(old),
        });
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
    /** Changes what a key is for and what it may use; the key itself stays. Throws as `rotate` does. Returns what is stored now. */
    update(idOrLabel: string, changes: KeyChanges): StoredKey {
      const nowMs = clock.wallMs();
      let updated: StoredKey | undefined;
      changeKeys(file, nowMs, (keys) => {
        const old = findCurrent(keys, idOrLabel, nowMs);
        updated = withChanges(old, changes, nowMs);
        return keys.map((key) => (key === old ? updated! : key));
      });
      if (updated === undefined) throw new SvcError('internal', 'The key store was not changed');
      return updated;
    },
    /** All keys, oldest first, revoked and expired ones included. */
    list: (): readonly StoredKey[] => readKeys(file),
    /**
     * Revokes by id, or by label: the key in use, and the ones that it replaced, which go on for a
     * while. Returns them, the newest first. Throws `not_found`, or `conflict` where the label stands
     * for several keys of which none replaced the other.
     */
    revoke(idOrLabel: string): readonly [StoredKey, ...StoredKey[]] {
      const nowMs = clock.wallMs();
      let revoked: readonly [StoredKey, ...StoredKey[]] | undefined;
      changeKeys(file, nowMs, (keys) => {
        const [target, ...replaced] = meant(keys, idOrLabel, nowMs);
        const end = (key: StoredKey) => ({ ...key, revoked: new Date(nowMs).toISOString() });
        const ended = new Map([target, ...replaced].map((key) => [key, end(key)]));
        revoked = [end(target), ...replaced.map(end)];
        return keys.map((key) => ended.get(key) ?? key);
      });
      if (revoked === undefined) throw new SvcError('internal', 'The key store was not changed');
      return revoked;
    },
  };
}

const FOREVER = '9999-12-31T00:00:00Z';

/** What a key is for and what it may use: the parts of it that `update` changes and `rotate` passes on. */
export type KeyLimits = Pick<StoredKey, (typeof LIMITS)[number]>;

const LIMITS = [
  'project',
  'models',
  'providers',
  'perDayUsd',
  'perMonthUsd',
] as const satisfies readonly (keyof StoredKey)[];

/** The limits that a key has; those that it has not are absent. */
function limitsOf(key: KeyLimits): KeyLimits {
  return Object.fromEntries(
    LIMITS.filter((name) => key[name] !== undefined).map((name) => [name, key[name]]),
  );
}

/** What may be changed of a key; `null` takes a limit away, or makes it valid for ever. */
export type KeyChanges = { readonly [K in keyof KeyLimits]?: KeyLimits[K] | null } & {
  readonly expiresInS?: number | null;
  readonly may?: Rights;
};

interface Traits extends KeyLimits {
  readonly label: string;
  readonly expiresInS?: number | undefined;
  readonly may?: readonly string[] | undefined;
}

function makeKey(
  random: RandomBytes,
  nowMs: number,
  { label, expiresInS, may = [], ...limits }: Traits,
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
    ...(may.length > 0 && { may }),
    ...limitsOf(limits),
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
  /** How long the file is not looked at again; a second where left out. */
  rereadMs?: number;
}): Keyring {
  const { file, clock, rereadMs = REREAD_MS } = options;
  let stored: readonly KnownKey[] = [];
  let config: readonly KnownKey[] = [];
  let all: readonly KnownKey[] = [];
  let seen = '';
  let nextLookMs = Number.NEGATIVE_INFINITY;

  function look(): void {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextLookMs) return;
    nextLookMs = nowMs + rereadMs;
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

/** The keys that `idOrLabel` revokes: one by its id, a label's with all that it replaced. What has expired is in nobody's way. */
function meant(
  keys: readonly StoredKey[],
  idOrLabel: string,
  nowMs: number,
): readonly [StoredKey, ...StoredKey[]] {
  const isOver = ({ expires = FOREVER }: StoredKey) => Date.parse(expires) <= nowMs;
  const labelled = keys.filter((key) => key.label === idOrLabel && key.revoked === undefined);
  const current = labelled.filter((key) => !isOver(key));
  const inUse = current.length === 0 ? labelled : current;
  const lines = new Set(inUse.map((key) => newestOf(key, keys)));
  if (lines.size !== 1 || keys.some((key) => key.id === idOrLabel))
    return [
      findLive(
        keys.filter((key) => !labelled.includes(key) || inUse.includes(key)),
        idOrLabel,
      ),
    ];
  const [newest, ...older] = inUse.toReversed();
  return newest === undefined ? [findLive(keys, idOrLabel)] : [newest, ...older];
}

/** The id of the key that has taken the place of `key` in the end. */
function newestOf(key: StoredKey, keys: readonly StoredKey[]): string {
  let newest = key;
  for (let steps = 0; steps < keys.length; steps += 1) {
    const next = keys.find(({ id }) => id === newest.replacedBy);
    if (next === undefined) break;
    newest = next;
  }
  return newest.id;
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

/** The same of keys with one label that was not replaced yet. Throws `not_found` for one that has expired. */
function findCurrent(keys: readonly StoredKey[], idOrLabel: string, nowMs: number): StoredKey {
  const isOver = ({ expires }: StoredKey) => expires !== undefined && Date.parse(expires) <= nowMs;
  const isCurrent = (key: StoredKey) =>
    key.id === idOrLabel || (key.replacedBy === undefined && !isOver(key));
  const found = findLive(keys.filter(isCurrent), idOrLabel);
  if (!isOver(found)) return found;
  throw new SvcError('not_found', `Key ${found.id} has expired: there is nothing to go on`, {
    cure: '`svc auth --generate` makes a key.',
  });
}

function withChanges(old: StoredKey, changes: KeyChanges, nowMs: number): StoredKey {
  const { expires, may, ...rest } = old;
  const kept = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !(name in changes)),
  ) as Omit<StoredKey, 'expires' | 'may'>;
  const given = Object.fromEntries(
    LIMITS.filter((name) => (changes[name] ?? null) !== null).map((name) => [name, changes[name]]),
  );
  const { expiresInS } = changes;
  const ends =
    expiresInS === undefined || expiresInS === null
      ? expires
      : new Date(nowMs + expiresInS * 1000).toISOString();
  const rights = changes.may ?? may ?? [];
  return {
    ...kept,
    ...given,
    ...(ends !== undefined && expiresInS !== null && { expires: ends }),
    ...(rights.length > 0 && { may: rights }),
  };
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
