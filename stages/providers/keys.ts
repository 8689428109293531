/**
 * The configured keys of one provider, and which of them may be used now.
 *
 * | state   | event                       | next    | also                                        |
 * |---------|-----------------------------|---------|---------------------------------------------|
 * | usable  | answer 429 (`limited`)      | limited | until `Retry-After`, else the 429 setting   |
 * | usable  | 401, 402, 403, no credit    | refused | until the 401 setting                       |
 * | limited | `limited`                   | limited | until the later of the two times            |
 * | limited | `refused`                   | refused | until the later of the two times            |
 * | refused | `refused`                   | refused | until the later of the two times            |
 * | refused | `limited`                   | limited | until the later of the two times            |
 * | limited, refused | its time has come  | usable  |                                             |
 *
 * A cooldown is in force the moment it is reported and never shortened, whatever order
 * concurrent answers come in. A success ends none: it may be older than the refusal.
 * A client's own key never gets here; it is neither rotated nor cooled.
 */
import { createHash } from 'node:crypto';
import type { Clock, SvcError } from '../../engine/index.ts';
import { allKeysCooling, authMissing, providerKeyRejected } from '../model/errors.ts';
import type { ProviderKey } from './provider.ts';

/** `failover` stays with the first usable key, `roundrobin` takes them in turn. */
export type KeyRotation = 'failover' | 'roundrobin';

/** The provider's verdict on a key: 429; or 401 and what else holds for every request with it. */
export type KeyRejection = 'limited' | 'refused';

export interface KeyRingSettings {
  readonly rotation: KeyRotation;
  /** In the order of use. A key listed twice counts once. */
  readonly keys: readonly ProviderKey[];
  /** After a 429 without a wait of its own, in milliseconds. */
  readonly cooldown429Ms: number;
  /** After any other refusal, in milliseconds. */
  readonly cooldown401Ms: number;
}

/** A key to use. */
export interface PickedKey {
  readonly usable: true;
  readonly key: ProviderKey;
  /** What stands for the key in `exclude` and `reject`; a hash of it, and never to be shown. */
  readonly id: string;
}

/** Why there is none. */
export interface NoKey {
  readonly usable: false;
  /**
   * `refused`: each key was refused and is cooling. `cooling`: each is cooling, some after a 429.
   * `tried`: what is left was excluded. `none`: the ring is empty.
   */
  readonly why: 'refused' | 'cooling' | 'tried' | 'none';
  /**
   * Milliseconds until a key is usable again: the limited ones' smallest wait where there
   * are any, since a refused key will most likely be refused again. 0 for `tried` and `none`.
   */
  readonly waitMs: number;
  /** Of `refused`, what the first key was refused for; undefined for a 401. */
  readonly because?: string | undefined;
}

export type KeyPick = PickedKey | NoKey;

/** A key as it may be shown. */
export interface KeyView {
  readonly label: string;
  readonly state: 'usable' | KeyRejection;
  /** Milliseconds until it is usable; 0 if it is. */
  readonly waitMs: number;
  /** How often it was picked, answered with 429 and with 401, since the start. */
  readonly picked: number;
  readonly limited: number;
  readonly refused: number;
}

/** The failure to answer with: PROVIDER_001, RATELIMIT_002 or AUTH_001; undefined for `tried`, where the last answer says more. */
export function keyFault(none: NoKey): SvcError | undefined {
  switch (none.why) {
    case 'refused':
      return providerKeyRejected(none.because);
    case 'cooling':
      return allKeysCooling(none.waitMs / 1000);
    case 'none':
      return authMissing();
    case 'tried':
      return undefined;
    default:
      return none.why satisfies never;
  }
}

interface KeyState {
  readonly picked: PickedKey;
  verdict: KeyRejection | undefined;
  /** What it was refused for, where that was no 401. */
  because: string | undefined;
  untilMs: number;
  picks: number;
  limited: number;
  refused: number;
}

/** A key that rests: by the provider's verdict, for so many milliseconds. */
export interface KeyRest {
  readonly id: string;
  readonly verdict: KeyRejection;
  readonly waitMs: number;
}

/** A ring in this process's memory; `clock` is only asked for monotonic time. */
export class KeyRing {
  readonly #clock: Clock;
  readonly #moved: (id: string) => void;
  #settings: KeyRingSettings;
  #states: readonly KeyState[] = [];
  /** Where `roundrobin` looks first. */
  #next = 0;

  /** `moved` hears of each key whose rest began or ended by a word from here. */
  constructor(
    settings: KeyRingSettings,
    clock: Clock,
    moved: (id: string) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#moved = moved;
    this.#settings = settings;
    this.configure(settings);
  }

  /** Chooses a key, none of those in `exclude` (ids that this request has tried); `preferred` while it is usable. Costs one look a key. */
  pick(exclude?: ReadonlySet<string>, preferred?: string): KeyPick {
    const states = this.#states;
    const nowMs = this.#clock.monotonicMs();
    const wanted = states.find(({ picked }) => picked.id === preferred);
    if (
      wanted !== undefined &&
      wanted.untilMs <= nowMs &&
      exclude?.has(wanted.picked.id) !== true
    ) {
      wanted.picks += 1;
      return wanted.picked;
    }
    const first = this.#settings.rotation === 'roundrobin' ? this.#next : 0;
    for (let step = 0; step < states.length; step += 1) {
      const index = (first + step) % states.length;
      const state = states[index]!;
      if (state.untilMs > nowMs || exclude?.has(state.picked.id) === true) continue;
      this.#next = (index + 1) % states.length;
      state.picks += 1;
      return state.picked;
    }
    return noKey(states, nowMs);
  }

  /**
   * Reports a verdict. `retryAfterMs` is what the provider asked for, clamped already; `because`
   * says what else than a 401 a key was refused for. An unknown id is ignored.
   */
  reject(id: string, how: KeyRejection, retryAfterMs?: number, because?: string): void {
    const state = this.#states.find((one) => one.picked.id === id);
    if (state === undefined) return;
    const { cooldown429Ms, cooldown401Ms } = this.#settings;
    const waitMs = retryAfterMs ?? (how === 'refused' ? cooldown401Ms : cooldown429Ms);
    this.hear({ id, verdict: how, waitMs });
    state.because = because;
    state[how] += 1;
    this.#moved(id);
  }

  /** Another proxy was answered so with the same key. An unknown id is ignored. */
  hear({ id, verdict, waitMs }: KeyRest): void {
    const state = this.#states.find((one) => one.picked.id === id);
    if (state === undefined) return;
    state.verdict = verdict;
    state.because = undefined;
    state.untilMs = Math.max(state.untilMs, this.#clock.monotonicMs() + waitMs);
  }

  /** Another proxy's operator has let the key be tried again. */
  hearUsable(id: string): void {
    const state = this.#states.find((one) => one.picked.id === id);
    if (state !== undefined) wake(state);
  }

  /** Every key is usable again, by an operator's word. */
  reset(): void {
    for (const state of this.#states) {
      wake(state);
      this.#moved(state.picked.id);
    }
  }

  /** Takes over new settings; a key that stays keeps its state. */
  configure(settings: KeyRingSettings): void {
    const before = new Map(this.#states.map((state) => [state.picked.id, state]));
    const states = new Map<string, KeyState>();
    for (const key of settings.keys) {
      const picked: PickedKey = { usable: true, key, id: idOf(key) };
      if (states.has(picked.id)) continue;
      states.set(picked.id, { ...(before.get(picked.id) ?? unused()), picked });
    }
    const inTurn = this.#states[this.#next]?.picked.id;
    this.#settings = settings;
    this.#states = [...states.values()];
    this.#next = Math.max(
      0,
      this.#states.findIndex((state) => state.picked.id === inTurn),
    );
  }

  /** The id of every key, in order. */
  ids(): readonly string[] {
    return this.#states.map(({ picked }) => picked.id);
  }

  /** The keys that rest now. */
  resting(): readonly KeyRest[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#states.flatMap(({ picked: { id }, verdict, untilMs }) =>
      untilMs > nowMs && verdict !== undefined ? [{ id, verdict, waitMs: untilMs - nowMs }] : [],
    );
  }

  /** True unless every key is cooling. An empty ring is usable: it has nothing to wait for. */
  isUsable(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return this.#states.length === 0 || this.#states.some((state) => state.untilMs <= nowMs);
  }

  /** Milliseconds until a key may be used, by whatever verdict it rests; 0 where one may now, and of an empty ring. */
  untilUsableMs(): number {
    if (this.#states.length === 0) return 0;
    const firstMs = Math.min(...this.#states.map((state) => state.untilMs));
    return Math.max(0, firstMs - this.#clock.monotonicMs());
  }

  /** Every key in order, without its secret. */
  view(): readonly KeyView[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#states.map(({ picked, verdict, untilMs, picks, limited, refused }) => ({
      label: picked.key.label,
      state: untilMs > nowMs && verdict !== undefined ? verdict : 'usable',
      waitMs: Math.max(0, untilMs - nowMs),
      picked: picks,
      limited,
      refused,
    }));
  }
}

function wake(state: KeyState): void {
  state.verdict = undefined;
  state.because = undefined;
  state.untilMs = -Infinity;
}

function unused(): Omit<KeyState, 'picked'> {
  return {
    verdict: undefined,
    because: undefined,
    untilMs: -Infinity,
    picks: 0,
    limited: 0,
    refused: 0,
  };
}

function noKey(states: readonly KeyState[], nowMs: number): NoKey {
  if (states.length === 0) return { usable: false, why: 'none', waitMs: 0 };
  const cooling = states.filter((state) => state.untilMs > nowMs);
  if (cooling.length < states.length) return { usable: false, why: 'tried', waitMs: 0 };
  const limited = cooling.filter((state) => state.verdict === 'limited');
  const waited = limited.length === 0 ? cooling : limited;
  return {
    usable: false,
    why: limited.length === 0 ? 'refused' : 'cooling',
    waitMs: Math.min(...waited.map((state) => state.untilMs)) - nowMs,
    because: cooling[0]?.because,
  };
}

/** The same secret under another scheme is another credential to the provider. */
function idOf(key: ProviderKey): string {
  return createHash('sha256').update(`${key.scheme}\0${key.secret}`).digest('hex');
}
