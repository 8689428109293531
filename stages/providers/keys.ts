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
 * | limited, refused | its time is over   | usable  |                                             |
 *
 * A cooldown applies from the moment it is reported and is never shortened, in whatever order
 * concurrent answers arrive. A success does not end it: it may be older than the refusal. A
 * client's own key is not handled here; it is neither rotated nor cooled.
 */
import { createHash } from 'node:crypto';
import type { Clock, SvcError } from '../../engine/index.ts';
import { allKeysCooling, authMissing, providerKeyRejected } from '../model/errors.ts';
import type { ProviderKey } from './provider.ts';

/** `failover` stays with the first usable key, `roundrobin` takes them in turn. */
export type KeyRotation = 'failover' | 'roundrobin';

/**
 * The provider's verdict on a key: 429; or 401 and anything else that applies to every request with
 * it.
 */
export type KeyRejection = 'limited' | 'refused';

export interface KeyRingSettings {
  readonly rotation: KeyRotation;
  /** In order of use. A key listed twice counts once. */
  readonly keys: readonly ProviderKey[];
  /** Cooldown after a 429 that gives no wait, in milliseconds. */
  readonly cooldown429Ms: number;
  /** Cooldown after any other refusal, in milliseconds. */
  readonly cooldown401Ms: number;
}

/** A key to use. */
export interface PickedKey {
  readonly usable: true;
  readonly key: ProviderKey;
  /** Identifies the key in `exclude` and `reject`; a hash of it, never to be shown. */
  readonly id: string;
}

/** Why there is no key. */
export interface NoKey {
  readonly usable: false;
  /**
   * `refused`: each key was refused and is cooling. `cooling`: each is cooling, some after a 429.
   * `tried`: the remaining ones were excluded. `none`: the ring is empty.
   */
  readonly why: 'refused' | 'cooling' | 'tried' | 'none';
  /**
   * Milliseconds until a key is usable again: the smallest wait of limited keys if there are any,
   * since a refused key will most likely be refused again. 0 for `tried` and `none`.
   */
  readonly waitMs: number;
  /** For `refused`, the reason for the first key; undefined for a 401. */
  readonly because?: string | undefined;
}

export type KeyPick = PickedKey | NoKey;

/** A key as it may be shown. */
export interface KeyView {
  readonly label: string;
  readonly state: 'usable' | KeyRejection;
  /** Milliseconds until it is usable; 0 if it is. */
  readonly waitMs: number;
  /** How often it was picked, and answered with 429 and with 401, since the start. */
  readonly picked: number;
  readonly limited: number;
  readonly refused: number;
}

/**
 * Returns the error to respond with: PROVIDER_001, RATELIMIT_002 or AUTH_001; undefined for
 * `tried`, where the last answer is more informative.
 */
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
  /** Why it was refused, if not by a 401. */
  because: string | undefined;
  untilMs: number;
  pickCount: number;
  limited: number;
  refused: number;
}

/** A key in cooldown: by the provider's verdict, for this many milliseconds. */
export interface KeyCooldown {
  readonly id: string;
  readonly verdict: KeyRejection;
  readonly waitMs: number;
}

/** A ring in this process's memory; `clock` is only used for monotonic time. */
export class KeyRing {
  readonly #clock: Clock;
  readonly #moved: (id: string) => void;
  #settings: KeyRingSettings;
  #states: readonly KeyState[] = [];
  /** Where `roundrobin` starts. */
  #next = 0;

  /** `moved` is called for each key whose cooldown began or ended by a local report. */
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

  /**
   * Picks a key not in `exclude` (ids that this request has tried); `preferred` while it is usable.
   * Linear in the number of keys.
   */
  pick(exclude?: ReadonlySet<string>, preferred?: string): KeyPick {
    const states = this.#states;
    const nowMs = this.#clock.monotonicMs();
    const preferredState = states.find(({ picked }) => picked.id === preferred);
    if (
      preferredState !== undefined &&
      preferredState.untilMs <= nowMs &&
      exclude?.has(preferredState.picked.id) !== true
    ) {
      preferredState.pickCount += 1;
      return preferredState.picked;
    }
    const first = this.#settings.rotation === 'roundrobin' ? this.#next : 0;
    for (let step = 0; step < states.length; step += 1) {
      const index = (first + step) % states.length;
      const state = states[index]!;
      if (state.untilMs > nowMs || exclude?.has(state.picked.id) === true) continue;
      this.#next = (index + 1) % states.length;
      state.pickCount += 1;
      return state.picked;
    }
    return noKey(states, nowMs);
  }

  /**
   * Reports a verdict. `retryAfterMs` is the wait requested by the provider, already clamped;
   * `because` is the reason for a refusal other than a 401. An unknown id is ignored.
   */
  reject(id: string, how: KeyRejection, retryAfterMs?: number, because?: string): void {
    const state = this.#states.find((one) => one.picked.id === id);
    if (state === undefined) return;
    const { cooldown429Ms, cooldown401Ms } = this.#settings;
    const waitMs = retryAfterMs ?? (how === 'refused' ? cooldown401Ms : cooldown429Ms);
    this.applyCooldown({ id, verdict: how, waitMs });
    state.because = because;
    state[how] += 1;
    this.#moved(id);
  }

  /** Applies a verdict that another proxy got for the same key. An unknown id is ignored. */
  applyCooldown({ id, verdict, waitMs }: KeyCooldown): void {
    const state = this.#states.find((one) => one.picked.id === id);
    if (state === undefined) return;
    state.verdict = verdict;
    state.because = undefined;
    state.untilMs = Math.max(state.untilMs, this.#clock.monotonicMs() + waitMs);
  }

  /** Applies another proxy's reset of the key by an operator. */
  applyUsable(id: string): void {
    const state = this.#states.find((one) => one.picked.id === id);
    if (state !== undefined) makeUsable(state);
  }

  /** Makes every key usable again, at an operator's command. */
  reset(): void {
    for (const state of this.#states) {
      makeUsable(state);
      this.#moved(state.picked.id);
    }
  }

  /** Applies new settings; a key that stays keeps its state. */
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

  /** Returns the keys in cooldown. */
  coolingDown(): readonly KeyCooldown[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#states.flatMap(({ picked: { id }, verdict, untilMs }) =>
      untilMs > nowMs && verdict !== undefined ? [{ id, verdict, waitMs: untilMs - nowMs }] : [],
    );
  }

  /**
   * Returns true unless every key is cooling. An empty ring is usable: it has nothing to wait for.
   */
  isUsable(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return this.#states.length === 0 || this.#states.some((state) => state.untilMs <= nowMs);
  }

  /**
   * Returns milliseconds until a key may be used, whatever its cooldown is for; 0 if one may be
   * used now, and for an empty ring.
   */
  untilUsableMs(): number {
    if (this.#states.length === 0) return 0;
    const firstMs = Math.min(...this.#states.map((state) => state.untilMs));
    return Math.max(0, firstMs - this.#clock.monotonicMs());
  }

  /** Returns every key in order, without its secret. */
  view(): readonly KeyView[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#states.map(({ picked, verdict, untilMs, pickCount, limited, refused }) => ({
      label: picked.key.label,
      state: untilMs > nowMs && verdict !== undefined ? verdict : 'usable',
      waitMs: Math.max(0, untilMs - nowMs),
      picked: pickCount,
      limited,
      refused,
    }));
  }
}

function makeUsable(state: KeyState): void {
  state.verdict = undefined;
  state.because = undefined;
  state.untilMs = -Infinity;
}

function unused(): Omit<KeyState, 'picked'> {
  return {
    verdict: undefined,
    because: undefined,
    untilMs: -Infinity,
    pickCount: 0,
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

/** The same secret under another scheme is a different credential to the provider. */
function idOf(key: ProviderKey): string {
  return createHash('sha256').update(`${key.scheme}\0${key.secret}`).digest('hex');
}
