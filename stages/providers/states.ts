/**
 * The live state of all providers: keys, breaker, health and pace of each, by name. It survives
 * reloads: what is known about a provider is kept while its settings change.
 */
import type { Clock } from '../../engine/index.ts';
import { Breaker } from './breaker.ts';
import { createFailover } from './failover.ts';
import type { Failover } from './failover.ts';
import { Health, unhealthyBecause } from './health.ts';
import type { HealthState } from './health.ts';
import { KeyRing } from './keys.ts';
import type { KeyRingSettings } from './keys.ts';
import { Pace } from './pace.ts';
import type { PaceOptions } from './pace.ts';
import { NO_PEERS } from './peers.ts';
import type { Peers } from './peers.ts';
import type { ProviderName } from './provider.ts';
import { createAttemptCounts } from './attempt-counts.ts';
import type { AttemptCounts } from './attempt-counts.ts';

/** The live state of one provider. */
export interface ProviderState {
  readonly keys: KeyRing;
  readonly breaker: Breaker;
  readonly health: Health;
  readonly failover: Failover;
  readonly attemptCounts: AttemptCounts;
  /** Undefined if no `rpm` is set. */
  readonly pace: Pace | undefined;
  readonly needsKey: boolean;
  /** Why it is not called until the next reload; undefined if it may be. */
  readonly stopped: string | undefined;
  /** How other proxies identify it: by its kind and its server. */
  readonly identity: ProviderIdentity;
  /** Claims the probe of a shared breaker: `Peers.claimProbe`. */
  claimProbe(): Promise<boolean> | undefined;
}

/** What identifies the provider to every proxy that uses the same name for it. */
export interface ProviderIdentity {
  readonly kind: string;
  /** Its server: a base URL, including the machine if it is on loopback. */
  readonly place: string;
}

/** What a reload may change. */
export interface ProviderStateSettings {
  readonly keys: KeyRingSettings;
  readonly pace?: PaceOptions | undefined;
  /** False for a provider that needs no credential; default true. */
  readonly needsKey?: boolean;
  /** Default: not shared. */
  readonly identity?: ProviderIdentity;
}

/** A provider's state for display: it contains no secrets. */
export type ProviderStateView = ReturnType<typeof toView>;

export type ProviderStates = ReturnType<typeof createProviderStates>;

/** Creates the states without any provider; `configure` adds them. */
export function createProviderStates(clock: Clock) {
  let states: ReadonlyMap<ProviderName, LiveState> = new Map();
  let peers: Peers = NO_PEERS;
  const current = (): Peers => peers;
  return {
    /** Shares the state of all providers from now on. */
    connect(others: Peers): void {
      peers = others;
    },
    /** Every provider's state, by name. */
    all: (): ReadonlyMap<ProviderName, ProviderState> => states,
    /** The state of a configured provider; undefined for any other name. */
    get: (name: ProviderName): ProviderState | undefined => states.get(name),
    /**
     * Applies the settings of all providers. Removed ones are dropped; runs that hold their state
     * keep it.
     */
    configure(settings: ReadonlyMap<ProviderName, ProviderStateSettings>): void {
      states = new Map(
        [...settings].map(([name, each]) => [
          name,
          toState(name, states.get(name), each, clock, current),
        ]),
      );
    },
    /**
     * Returns `names` in the order in which to try them: first those that are healthy with a
     * breaker that is not open, then the others, each part in the given order. Unknown names are
     * left out. If `takesOwnKey`, the client's own key is sent: the state of the configured ones is
     * ignored.
     */
    inOrder(
      names: readonly ProviderName[],
      takesOwnKey: (name: ProviderName) => boolean = () => false,
    ): ProviderName[] {
      const known = names.filter((name) => states.has(name));
      const isGood = (name: string): boolean => isFirstChoice(states.get(name)!, takesOwnKey(name));
      if (known.every(isGood)) return known;
      const good = new Set(known.filter(isGood));
      return [...good, ...known.filter((name) => !good.has(name))];
    },
    /**
     * Returns why `name` is tried after those that follow it, in words; undefined if it is not.
     * `takesOwnKey` as for `inOrder`.
     */
    reasonForLater(name: ProviderName, takesOwnKey: boolean): string | undefined {
      const state = states.get(name);
      if (state === undefined || isFirstChoice(state, takesOwnKey)) return undefined;
      if (state.stopped !== undefined) return 'stopped';
      if (state.breaker.isOpen()) return 'its circuit breaker is open';
      const view = state.health.view();
      // Its keys are cooling down although it answers.
      return view.state === 'unhealthy' ? unhealthyBecause(view) : 'no key of it can be used now';
    },
    /**
     * `provider-force-health`: sets the health and, for `healthy`, closes the breaker and makes
     * every key usable. False for an unknown name.
     */
    forceHealth(name: ProviderName, health: HealthState): boolean {
      const state = states.get(name);
      state?.health.force(health);
      if (health === 'healthy') {
        state?.breaker.reset();
        state?.keys.reset();
        if (state !== undefined) state.stopped = undefined;
      }
      return state !== undefined;
    },
    /**
     * Stops calling a provider whose own code is broken, until it is reconfigured or forced
     * healthy. False if it was stopped already, or for an unknown name.
     */
    stop(name: ProviderName, why: string): boolean {
      const state = states.get(name);
      if (state === undefined || state.stopped !== undefined) return false;
      state.stopped = why;
      return true;
    },
    /** Returns every provider in order of configuration. */
    view: (): ReadonlyMap<ProviderName, ProviderStateView> =>
      new Map([...states].map(([name, state]) => [name, toView(state)])),
    /** Returns the breakers for `/health`. */
    breakers: () => toBreakersView(states),
  };
}

type LiveState = { -readonly [K in keyof ProviderState]: ProviderState[K] };

const UNKNOWN: ProviderIdentity = { kind: '', place: '' };

function toState(
  name: ProviderName,
  before: ProviderState | undefined,
  settings: ProviderStateSettings,
  clock: Clock,
  peers: () => Peers,
): LiveState {
  before?.keys.configure(settings.keys);
  const keys =
    before?.keys ?? new KeyRing(settings.keys, clock, (keyId) => peers().keyMoved(name, keyId));
  if (settings.pace !== undefined) before?.pace?.configure(settings.pace);
  return {
    keys,
    breaker: before?.breaker ?? new Breaker(clock, (move) => peers().breakerMoved(name, move)),
    health: before?.health ?? new Health(clock, () => keys.untilUsableMs()),
    failover: before?.failover ?? createFailover(clock),
    attemptCounts: before?.attemptCounts ?? createAttemptCounts(clock),
    pace: settings.pace && (before?.pace ?? new Pace(settings.pace, clock)),
    needsKey: settings.needsKey ?? true,
    stopped: undefined,
    identity: settings.identity ?? UNKNOWN,
    claimProbe: () => peers().claimProbe(name),
  };
}

function isFirstChoice({ health, breaker, stopped }: ProviderState, takesOwnKey: boolean): boolean {
  return (
    stopped === undefined && (takesOwnKey ? health.isUp() : health.isHealthy()) && !breaker.isOpen()
  );
}

function toView({ health, breaker, keys, pace, attemptCounts, needsKey, stopped }: ProviderState) {
  return {
    health: health.view(),
    tries: attemptCounts.view(),
    breaker: breaker.view(),
    keys: keys.view(),
    pace: pace?.view(),
    needsKey,
    stopped,
  };
}

function toBreakersView(states: ReadonlyMap<ProviderName, ProviderState>) {
  const providers = Object.fromEntries(
    [...states].map(([name, { breaker }]) => {
      const { state, failures } = breaker.view();
      return [name, { state, open: state === 'open', failures }];
    }),
  );
  return { anyOpen: Object.values(providers).some((one) => one.open), providers };
}
