/**
 * The state of the providers, as `svc provider-status` shows it, and changes of it by an operator.
 */
import { SvcError } from '../../engine/index.ts';
import type { ProviderStates, ProviderStateView } from '../../stages/providers/states.ts';

/** Returns every provider by name. Keys are named by their labels; nothing here is secret. */
export function statesJson(states: ProviderStates) {
  return {
    providers: Object.fromEntries([...states.view()].map(([name, view]) => [name, toJson(view)])),
  };
}

function toJson({ health, breaker, keys, pace, tries, needsKey, stopped }: ProviderStateView) {
  return {
    health: {
      state: health.state,
      reason: health.reason ?? null,
      failures_in_row: health.failuresInRow,
      // Forced by an operator: it does not recover by itself.
      recovers_in_s: Number.isFinite(health.recoversInMs) ? health.recoversInMs / 1000 : null,
    },
    breaker: {
      state: breaker.state,
      requests: breaker.requests,
      failures: breaker.failures,
      open_for_s: breaker.openForS,
    },
    tries: {
      // False if nothing has been sent to the provider since the start.
      ever: tries.everTried > 0,
      last_hour: tries.tried,
      failed_last_hour: tries.failed,
      failed_in_row: tries.failedInRow,
      // Requests for this provider that another one answered.
      answered_by_others_last_hour: tries.answeredByOthers,
    },
    keys: keys.map(({ label, state, waitMs, picked, limited, refused }) => ({
      label,
      state,
      wait_s: waitMs / 1000,
      picked,
      limited,
      refused,
    })),
    needs_key: needsKey,
    pace: pace === undefined ? null : { ...pace },
    // Its own code failed: it is not used until the next reload.
    stopped: stopped ?? null,
  };
}

/** One provider as shown. */
export type ProviderStateJson = ReturnType<typeof toJson>;

/**
 * Sets a provider's health from control socket input. Throws `bad_request` for an invalid state,
 * `not_found` for an unknown provider.
 */
export function forceHealth(states: ProviderStates, input: unknown) {
  if (typeof input === 'object' && input !== null && 'provider' in input && 'state' in input) {
    const { provider, state } = input;
    if (typeof provider === 'string' && (state === 'healthy' || state === 'unhealthy')) {
      if (states.forceHealth(provider, state)) return { provider, state };
      const known = [...states.view().keys()].join(', ');
      throw new SvcError('not_found', `There is no provider '${provider}'; there are ${known}`);
    }
  }
  throw new SvcError(
    'bad_request',
    'provider-force-health takes a provider and healthy or unhealthy',
  );
}
