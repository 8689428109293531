/**
 * Breakers and key cooldowns shared by several proxies. Each proxy decides by its own memory, so no
 * request waits; a local change is written to Redis at once, and changes of others are read twice a
 * second. Only the probe of a half-open breaker has to be claimed, since there may be one among all
 * proxies.
 *
 * A record is text: the state, until when by Redis's clock, and a version that is new with every
 * change. A proxy applies a record when it first sees that version. A record that could not be
 * written, or that is missing although it holds here, is written again: Redis was away, or lost it.
 *
 * Each proxy counts its own failures: the one whose count opens the breaker opens it for all.
 */
import { randomBytes } from 'node:crypto';
import { OPEN_MS } from '../../stages/providers/breaker.ts';
import type { Breaker } from '../../stages/providers/breaker.ts';
import type { KeyCooldown, KeyRing } from '../../stages/providers/keys.ts';
import type { Peers } from '../../stages/providers/peers.ts';
import type { ProviderState, ProviderStates } from '../../stages/providers/states.ts';
import { listOf, textOf } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';
import { CLAIM, FREE, READ, WRITE, toRecord } from './record.ts';
import type { SharedRecord } from './record.ts';

/** While another proxy's probe is out, one request a second checks whether it still is. */
const ASK_AGAIN_MS = 1000;
/** A state that ends sooner than this is not worth a record. */
const MIN_COOLDOWN_MS = 1500;

/** Whatever a record says, a key is tried again after a day. */
const MAX_COOLDOWN_MS = 24 * 3600 * 1000;

/** The local state, and how long it holds. */
type LocalState = Pick<SharedRecord, 'what' | 'forMs'>;

/** A record that this proxy keeps in step with. */
interface TrackedRecord {
  readonly name: string;
  /** The breaker or ring whose state it is. */
  readonly owner: object;
  /** The version of the newest record that was applied or written. */
  seen: string;
  /** Counts local changes: a record read before the newest one is out of date. */
  changes: number;
  /** The state set by a local change that has not reached Redis yet. */
  unwritten: string | undefined;
  /** Returns the local state; undefined while it is unknown because a probe is out. */
  local(): LocalState | undefined;
  /** Applies another proxy's record. */
  apply(record: SharedRecord): void;
}

/** Starts sharing the states over a link. */
export function shareProviders(states: ProviderStates, link: RedisLink): void {
  const tracked = new Map<string, TrackedRecord>();
  const probes = new WeakMap<Breaker, string>();

  function follow(
    owner: object,
    name: string,
    createRecord: () => Pick<TrackedRecord, 'local' | 'apply'>,
  ): TrackedRecord {
    const known = tracked.get(name);
    if (known?.owner === owner) return known;
    const entry = { name, owner, seen: '', changes: 0, unwritten: undefined, ...createRecord() };
    tracked.set(name, entry);
    return entry;
  }

  function breakerEntry(provider: string, { breaker, identity }: ProviderState): TrackedRecord {
    const name = sharedName('breaker', provider, identity.kind, identity.place);
    return follow(breaker, name, () => breakerRecord(breaker));
  }

  function keyEntry(
    provider: string,
    { keys, identity }: ProviderState,
    id: string,
  ): TrackedRecord {
    const name = sharedName('key', provider, identity.kind, identity.place, id);
    return follow(keys, name, () => keyRecord(keys, id));
  }

  async function write(entry: TrackedRecord, { what, forMs }: LocalState): Promise<void> {
    const version = newVersion();
    entry.seen = version;
    entry.changes += 1;
    entry.unwritten = what;
    const reply = await link.ask((redis) =>
      redis.run(WRITE, [entry.name, probeName(entry)], [what, String(Math.ceil(forMs)), version]),
    );
    if (reply !== undefined && entry.seen === version) entry.unwritten = undefined;
  }

  async function read(): Promise<void> {
    const all = current();
    if (all.length === 0) return;
    const before = all.map(({ changes }) => changes);
    const names = all.map(({ name }) => name);
    const reply = await link.ask((redis) => redis.run(READ, names, []));
    if (reply === undefined) return;
    const [nowMs, ...texts] = listOf(reply);
    for (const [index, entry] of all.entries()) {
      if (entry.changes !== before[index]) continue;
      const record = toRecord(texts[index], nowMs);
      const local = entry.local();
      // A cooldown that ended before it could be written is not recorded, and must not end another
      // proxy's.
      if (local?.what !== entry.unwritten) entry.unwritten = undefined;
      if (entry.unwritten !== undefined && local !== undefined) void write(entry, local);
      else if (record !== undefined) applyRecord(entry, record);
      else if (local !== undefined && local.forMs > MIN_COOLDOWN_MS) void write(entry, local);
    }
  }

  /** Returns the records of all current providers; those of removed ones are dropped. */
  function current(): readonly TrackedRecord[] {
    const all = [...states.all()].flatMap(([name, state]) => [
      breakerEntry(name, state),
      ...state.keys.ids().map((id) => keyEntry(name, state, id)),
    ]);
    const names = new Set(all.map(({ name }) => name));
    for (const name of tracked.keys()) if (!names.has(name)) tracked.delete(name);
    return all;
  }

  const peers: Peers = {
    breakerMoved(provider, move) {
      const state = states.get(provider);
      if (state === undefined) return;
      const entry = breakerEntry(provider, state);
      const local = entry.local();
      if (move !== 'freed' && local !== undefined) void write(entry, local);
      else releaseProbe(state.breaker, entry);
    },
    keyMoved(provider, keyId) {
      const state = states.get(provider);
      if (state === undefined) return;
      const entry = keyEntry(provider, state, keyId);
      const local = entry.local();
      if (local !== undefined) void write(entry, local);
    },
    claimProbe(provider) {
      const state = states.get(provider);
      if (state === undefined || !link.isUp) return undefined;
      return claimProbeOf(state.breaker, breakerEntry(provider, state));
    },
  };

  function releaseProbe(breaker: Breaker, entry: TrackedRecord): void {
    const version = probes.get(breaker) ?? '';
    void link.ask((redis) => redis.run(FREE, [probeName(entry)], [version]));
  }

  /**
   * Claims the probe; true if it is ours. Retries until the newest record is known; if Redis does
   * not respond, the probe is ours.
   */
  async function claimProbeOf(breaker: Breaker, entry: TrackedRecord): Promise<boolean> {
    const version = newVersion();
    const reply = await link.ask((redis) =>
      redis.run(CLAIM, [entry.name, probeName(entry)], [entry.seen, version, String(OPEN_MS)]),
    );
    const [verdict, nowMs, text] = listOf(reply);
    if (textOf(verdict) === 'held') {
      breaker.yieldProbe(ASK_AGAIN_MS);
      return false;
    }
    const news = textOf(verdict) === 'news' ? toRecord(text, nowMs) : undefined;
    if (news === undefined) {
      probes.set(breaker, version);
      return true;
    }
    applyRecord(entry, news);
    return news.what === 'open' && news.forMs <= 0 ? claimProbeOf(breaker, entry) : false;
  }

  states.connect(peers);
  link.everyTick(() => void read());
}

function applyRecord(entry: TrackedRecord, record: SharedRecord): void {
  if (record.version === entry.seen) return;
  entry.seen = record.version;
  entry.apply(record);
}

function breakerRecord(breaker: Breaker): Pick<TrackedRecord, 'local' | 'apply'> {
  return {
    local() {
      const { state, openForS } = breaker.view();
      if (state === 'closed') return { what: 'closed', forMs: 0 };
      return state === 'open' ? { what: 'open', forMs: openForS * 1000 } : undefined;
    },
    apply({ what, forMs }) {
      if (what !== 'open') breaker.applyClosed();
      // An expired state changes nothing where it is already known, and a probe that is out still
      // counts.
      else if (forMs > 0 || breaker.view().state !== 'half_open')
        breaker.applyOpen(Math.min(Math.max(0, forMs), OPEN_MS));
    },
  };
}

function keyRecord(keys: KeyRing, id: string): Pick<TrackedRecord, 'local' | 'apply'> {
  return {
    local() {
      const rest = keys.coolingDown().find((entry) => entry.id === id);
      return rest === undefined
        ? { what: 'usable', forMs: 0 }
        : { what: rest.verdict, forMs: rest.waitMs };
    },
    apply({ what, forMs }) {
      if (what === 'usable') keys.applyUsable(id);
      else if (isVerdict(what) && forMs > 0)
        keys.applyCooldown({ id, verdict: what, waitMs: Math.min(forMs, MAX_COOLDOWN_MS) });
    },
  };
}

function isVerdict(what: string): what is KeyCooldown['verdict'] {
  return what === 'limited' || what === 'refused';
}

function probeName({ name }: TrackedRecord): string {
  return `${name}:probe`;
}

function newVersion(): string {
  return randomBytes(9).toString('base64url');
}
