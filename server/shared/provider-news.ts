/**
 * Breakers and resting keys that several proxies hold together. Each proxy decides by what it
 * holds in memory, so no request waits; what changes there is written to Redis at once, and twice
 * a second what others wrote is read. Only the probe of a half-open breaker is asked for, since
 * there may be one among all.
 *
 * A record is text: what is so, until when by Redis's clock, and a word that is new with every
 * change. A proxy takes up a record when it sees that word for the first time. What could not be
 * written, and what is missing although it is so here, is written again: Redis was away, or lost it.
 *
 * Failures are counted by each proxy: the one whose count opens the breaker opens it for all.
 */
import { randomBytes } from 'node:crypto';
import { OPEN_MS } from '../../stages/providers/breaker.ts';
import type { Breaker } from '../../stages/providers/breaker.ts';
import type { KeyRest, KeyRing } from '../../stages/providers/keys.ts';
import type { Peers } from '../../stages/providers/peers.ts';
import type { ProviderState, ProviderStates } from '../../stages/providers/states.ts';
import { listOf, textOf } from './connection.ts';
import { sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';
import { CLAIM, FREE, READ, WRITE, toRecord } from './record.ts';
import type { SharedRecord } from './record.ts';

/** While another proxy's probe is out, one request a second asks whether it still is. */
const ASK_AGAIN_MS = 1000;
/** What is nearly over is not worth a record. */
const LEAST_REST_MS = 1500;

/** Whatever a record says, a key is tried again after a day. */
const LONGEST_REST_MS = 24 * 3600 * 1000;

/** What is so here, and for how long. */
type Own = Pick<SharedRecord, 'what' | 'forMs'>;

/** A record that this proxy follows. */
interface Followed {
  readonly name: string;
  /** The breaker or ring whose state it is. */
  readonly owner: object;
  /** The word of the newest record that was taken up or written. */
  seen: string;
  /** Counts changes from here: what was read before the newest one is out of date. */
  changes: number;
  /** What a change from here has made of it, while that has not reached Redis. */
  unwritten: string | undefined;
  /** Undefined while that is not known here: the probe is out. */
  own(): Own | undefined;
  /** Takes up what another proxy says. */
  hear(record: SharedRecord): void;
}

/** Shares the states over a link, from now on. */
export function shareProviders(states: ProviderStates, link: RedisLink): void {
  const followed = new Map<string, Followed>();
  const probes = new WeakMap<Breaker, string>();

  function follow(
    owner: object,
    name: string,
    make: () => Pick<Followed, 'own' | 'hear'>,
  ): Followed {
    const known = followed.get(name);
    if (known?.owner === owner) return known;
    const one = { name, owner, seen: '', changes: 0, unwritten: undefined, ...make() };
    followed.set(name, one);
    return one;
  }

  function ofBreaker(provider: string, { breaker, identity }: ProviderState): Followed {
    const name = sharedName('breaker', provider, identity.kind, identity.place);
    return follow(breaker, name, () => breakerRecord(breaker));
  }

  function ofKey(provider: string, { keys, identity }: ProviderState, id: string): Followed {
    const name = sharedName('key', provider, identity.kind, identity.place, id);
    return follow(keys, name, () => keyRecord(keys, id));
  }

  async function write(one: Followed, { what, forMs }: Own): Promise<void> {
    const word = newWord();
    one.seen = word;
    one.changes += 1;
    one.unwritten = what;
    const answer = await link.ask((redis) =>
      redis.run(WRITE, [one.name, probeOf(one)], [what, String(Math.ceil(forMs)), word]),
    );
    if (answer !== undefined && one.seen === word) one.unwritten = undefined;
  }

  async function read(): Promise<void> {
    const all = current();
    if (all.length === 0) return;
    const before = all.map(({ changes }) => changes);
    const names = all.map(({ name }) => name);
    const answer = await link.ask((redis) => redis.run(READ, names, []));
    if (answer === undefined) return;
    const [nowMs, ...texts] = listOf(answer);
    for (const [index, one] of all.entries()) {
      if (one.changes !== before[index]) continue;
      const record = toRecord(texts[index], nowMs);
      const own = one.own();
      // A rest that was over before it could be written is no news, and ends no rest of another.
      if (own?.what !== one.unwritten) one.unwritten = undefined;
      if (one.unwritten !== undefined && own !== undefined) void write(one, own);
      else if (record !== undefined) take(one, record);
      else if (own !== undefined && own.forMs > LEAST_REST_MS) void write(one, own);
    }
  }

  /** Every record of the providers that there are now; those of others are forgotten. */
  function current(): readonly Followed[] {
    const all = [...states.all()].flatMap(([name, state]) => [
      ofBreaker(name, state),
      ...state.keys.ids().map((id) => ofKey(name, state, id)),
    ]);
    const names = new Set(all.map(({ name }) => name));
    for (const name of followed.keys()) if (!names.has(name)) followed.delete(name);
    return all;
  }

  const peers: Peers = {
    breakerMoved(provider, move) {
      const state = states.get(provider);
      if (state === undefined) return;
      const one = ofBreaker(provider, state);
      const own = one.own();
      if (move !== 'freed' && own !== undefined) void write(one, own);
      else free(state.breaker, one);
    },
    keyMoved(provider, keyId) {
      const state = states.get(provider);
      if (state === undefined) return;
      const one = ofKey(provider, state, keyId);
      const own = one.own();
      if (own !== undefined) void write(one, own);
    },
    claimProbe(provider) {
      const state = states.get(provider);
      if (state === undefined || !link.isUp) return undefined;
      return claim(state.breaker, ofBreaker(provider, state));
    },
  };

  function free(breaker: Breaker, one: Followed): void {
    const word = probes.get(breaker) ?? '';
    void link.ask((redis) => redis.run(FREE, [probeOf(one)], [word]));
  }

  /** Asks until the newest record is known; where Redis does not answer, the probe is ours. */
  async function claim(breaker: Breaker, one: Followed): Promise<boolean> {
    const word = newWord();
    const answer = await link.ask((redis) =>
      redis.run(CLAIM, [one.name, probeOf(one)], [one.seen, word, String(OPEN_MS)]),
    );
    const [verdict, nowMs, text] = listOf(answer);
    if (textOf(verdict) === 'held') {
      breaker.yieldProbe(ASK_AGAIN_MS);
      return false;
    }
    const news = textOf(verdict) === 'news' ? toRecord(text, nowMs) : undefined;
    if (news === undefined) {
      probes.set(breaker, word);
      return true;
    }
    take(one, news);
    return news.what === 'open' && news.forMs <= 0 ? claim(breaker, one) : false;
  }

  states.connect(peers);
  link.everyTick(() => void read());
}

function take(one: Followed, record: SharedRecord): void {
  if (record.word === one.seen) return;
  one.seen = record.word;
  one.hear(record);
}

function breakerRecord(breaker: Breaker): Pick<Followed, 'own' | 'hear'> {
  return {
    own() {
      const { state, openForS } = breaker.view();
      if (state === 'closed') return { what: 'closed', forMs: 0 };
      return state === 'open' ? { what: 'open', forMs: openForS * 1000 } : undefined;
    },
    hear({ what, forMs }) {
      if (what !== 'open') breaker.hearClosed();
      // What is over changes nothing where it is known, and a probe that is out still counts.
      else if (forMs > 0 || breaker.view().state !== 'half_open')
        breaker.hearOpen(Math.min(Math.max(0, forMs), OPEN_MS));
    },
  };
}

function keyRecord(keys: KeyRing, id: string): Pick<Followed, 'own' | 'hear'> {
  return {
    own() {
      const rest = keys.resting().find((one) => one.id === id);
      return rest === undefined
        ? { what: 'usable', forMs: 0 }
        : { what: rest.verdict, forMs: rest.waitMs };
    },
    hear({ what, forMs }) {
      if (what === 'usable') keys.hearUsable(id);
      else if (isVerdict(what) && forMs > 0)
        keys.hear({ id, verdict: what, waitMs: Math.min(forMs, LONGEST_REST_MS) });
    },
  };
}

function isVerdict(what: string): what is KeyRest['verdict'] {
  return what === 'limited' || what === 'refused';
}

function probeOf({ name }: Followed): string {
  return `${name}:probe`;
}

function newWord(): string {
  return randomBytes(9).toString('base64url');
}
