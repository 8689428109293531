/**
 * The operations of `svc auth` on a list of keys, wherever it is stored: each takes the current
 * keys and returns those to store, with the result for the command to show.
 */
import { hash } from 'node:crypto';
import type { Clock } from '../../engine/clock.ts';
import { SvcError } from '../../engine/error.ts';
import type { Rights } from './rights.ts';
import type { StoredKey } from './store.ts';

/** Returns `size` random bytes. */
export type RandomBytes = (size: number) => Buffer;

/** The new keys, and the result to show. */
export interface Changed<R> {
  readonly keys: readonly StoredKey[];
  readonly result: R;
}

/** May run again on newer keys, so it must keep no state between runs. */
export type KeyChange<R> = (keys: readonly StoredKey[]) => Changed<R>;

/** A newly made key; `key` is the only copy there will ever be. */
export interface MadeKey {
  readonly key: string;
  readonly stored: StoredKey;
}

const KEY_PREFIX = 'svc_';
const KEY_BYTES = 32;
const ID_BYTES = 4;

/** Generates a key: `svc_` and 43 base64url characters. */
export function generateKey(random: RandomBytes): string {
  return KEY_PREFIX + random(KEY_BYTES).toString('base64url');
}

/** Creates the operations; each uses the time of its call. */
export function keyChanges({ clock, random }: { clock: Clock; random: RandomBytes }) {
  return {
    /** Creates a key. `expiresInS` is in seconds from now. */
    create(traits: NewKey): KeyChange<MadeKey> {
      return (keys) => {
        const made = makeKey(random, clock.wallMs(), traits);
        return { keys: [...keys, made.stored], result: made };
      };
    },
    /**
     * Creates a key that replaces another, with its label, rights, limits and, unless `expiresInS`
     * is given, its lifetime. Both are valid for `graceS` seconds, or until the old one expires, if
     * that is earlier. Throws as `revoke` does; of several keys with one label, the one not yet
     * replaced is used.
     */
    rotate(
      idOrLabel: string,
      { graceS, expiresInS }: Rotation,
    ): KeyChange<MadeKey & { readonly replaced: StoredKey }> {
      return (keys) => {
        const nowMs = clock.wallMs();
        const old = findCurrent(keys, idOrLabel, nowMs);
        const { label, may } = old;
        const span = expiresInS ?? spanOf(old);
        const made = makeKey(random, nowMs, { label, expiresInS: span, may, ...limitsOf(old) });
        const endMs = Math.min(nowMs + graceS * 1000, Date.parse(old.expires ?? FOREVER));
        const replaced: StoredKey = {
          ...old,
          expires: new Date(endMs).toISOString(),
          replacedBy: made.stored.id,
        };
        return {
          keys: [...keys.map((key) => (key === old ? replaced : key)), made.stored],
          result: { ...made, replaced },
        };
      };
    },
    /**
     * Changes the purpose and limits of a key; the key itself stays. Throws as `rotate` does.
     * Returns the stored key.
     */
    update(idOrLabel: string, changes: KeyEdits): KeyChange<StoredKey> {
      return (keys) => {
        const nowMs = clock.wallMs();
        const old = findCurrent(keys, idOrLabel, nowMs);
        const updated = withChanges(old, changes, nowMs);
        return { keys: keys.map((key) => (key === old ? updated : key)), result: updated };
      };
    },
    /**
     * Revokes by id, or by label: the current key and the ones it replaced, which may still be
     * valid. Returns them, newest first. Throws `not_found`, or `conflict` if the label belongs to
     * several keys of which none replaced the other.
     */
    revoke(idOrLabel: string): KeyChange<readonly [StoredKey, ...StoredKey[]]> {
      return (keys) => {
        const nowMs = clock.wallMs();
        const [target, ...replaced] = findKey(keys, idOrLabel, nowMs);
        const end = (key: StoredKey) => ({ ...key, revoked: new Date(nowMs).toISOString() });
        const ended = new Map([target, ...replaced].map((key) => [key, end(key)]));
        return {
          keys: keys.map((key) => ended.get(key) ?? key),
          result: [end(target), ...replaced.map(end)],
        };
      };
    },
  };
}

/** Options of a rotation, in seconds. */
export interface Rotation {
  readonly graceS: number;
  readonly expiresInS?: number;
}

/** Attributes of a new key. */
export type NewKey = Omit<Traits, 'may'> & { readonly may?: Rights };

const FOREVER = '9999-12-31T00:00:00Z';

/** Purpose and limits of a key: the fields that `update` changes and `rotate` copies. */
export type KeyLimits = Pick<StoredKey, (typeof LIMITS)[number]>;

const LIMITS = [
  'project',
  'models',
  'providers',
  'perDayUsd',
  'perMonthUsd',
] as const satisfies readonly (keyof StoredKey)[];

/** Returns the limits that a key has; unset ones are absent. */
export function limitsOf(key: KeyLimits): KeyLimits {
  return Object.fromEntries(
    LIMITS.filter((name) => key[name] !== undefined).map((name) => [name, key[name]]),
  );
}

/** Changes to a key; `null` removes a limit or the expiry. */
export type KeyEdits = { readonly [K in keyof KeyLimits]?: KeyLimits[K] | null } & {
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

/** Returns a key's original lifetime, in seconds; undefined if it does not expire. */
function spanOf({ created, expires }: StoredKey): number | undefined {
  return expires === undefined ? undefined : (Date.parse(expires) - Date.parse(created)) / 1000;
}

/**
 * Returns the keys that `idOrLabel` revokes: one by its id, or a label's key with all that it
 * replaced. Expired keys are ignored.
 */
function findKey(
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

/** Returns the id of the last key in the chain of replacements of `key`. */
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

/**
 * Finds the key to change; of several with one label, the one not yet replaced. Throws `not_found`
 * for an expired one.
 */
function findCurrent(keys: readonly StoredKey[], idOrLabel: string, nowMs: number): StoredKey {
  const isOver = ({ expires }: StoredKey) => expires !== undefined && Date.parse(expires) <= nowMs;
  const isCurrent = (key: StoredKey) =>
    key.id === idOrLabel || (key.replacedBy === undefined && !isOver(key));
  const found = findLive(keys.filter(isCurrent), idOrLabel);
  if (!isOver(found)) return found;
  throw new SvcError('not_found', `Key ${found.id} has expired: there is nothing to continue`, {
    cure: '`svc auth --generate` makes a key.',
  });
}

function withChanges(old: StoredKey, changes: KeyEdits, nowMs: number): StoredKey {
  const { expires, may, ...rest } = old;
  const unchanged = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !(name in changes)),
  ) as Omit<StoredKey, 'expires' | 'may'>;
  const updates = Object.fromEntries(
    LIMITS.filter((name) => (changes[name] ?? null) !== null).map((name) => [name, changes[name]]),
  );
  const { expiresInS } = changes;
  const newExpiry =
    expiresInS === undefined || expiresInS === null
      ? expires
      : new Date(nowMs + expiresInS * 1000).toISOString();
  const rights = changes.may ?? may ?? [];
  return {
    ...unchanged,
    ...updates,
    ...(newExpiry !== undefined && expiresInS !== null && { expires: newExpiry }),
    ...(rights.length > 0 && { may: rights }),
  };
}

/** Returns the SHA-256 of a key. */
export function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/**
 * Merges keys of the home folder and of the shared ledger; the ledger's copy wins, and a key
 * revoked in either is revoked.
 */
export function mergeKeys(
  home: readonly StoredKey[],
  shared: readonly StoredKey[],
): readonly StoredKey[] {
  const own = new Map(home.map((key) => [key.id, key]));
  const isShared = new Set(shared.map(({ id }) => id));
  return [
    ...home.filter(({ id }) => !isShared.has(id)),
    ...shared.map((key) => {
      const revoked = key.revoked ?? own.get(key.id)?.revoked;
      return revoked === undefined || revoked === key.revoked ? key : { ...key, revoked };
    }),
  ];
}
