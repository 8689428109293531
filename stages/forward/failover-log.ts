/**
 * Counts requests that a provider other than the first choice answers, and logs when that begins
 * and ends.
 */
import type { RouteTarget } from '../model/request.ts';
import { unhealthyBecause } from '../providers/health.ts';
import type { ProviderState } from '../providers/states.ts';
import type { AttemptScope } from './attempt-scope.ts';
import type { Failure } from './step.ts';

/** Records that `answering` has answered, after those in `failures` did not. */
export function logFailover(
  targets: readonly RouteTarget[],
  answering: RouteTarget,
  failures: readonly Failure[],
  { services, attempts }: AttemptScope,
): void {
  // An error answer of the last remaining provider is also shown to the client.
  if (attempts.at(-1)?.failure !== undefined) return;
  const primary = targets.find((target) => target.isPrimary);
  const state = primary && services.states.get(primary.provider);
  if (primary === undefined || state === undefined) return;
  const { provider } = primary;
  if (answering === primary) {
    const requests = state.failover.back();
    if (requests !== undefined)
      services.log.info('a failover has ended: the provider answers again', { provider, requests });
    return;
  }
  const failure = failures.find((failed) => failed.attempt.provider === provider);
  // It may well be able to answer the next request.
  if (failure?.how === 'unfit' || failure?.how === 'spared') return;
  state.attemptCounts.answeredByAnother();
  if (state.failover.away())
    services.log.warning('a failover has begun: another provider answers', {
      provider,
      why: failure?.error.message ?? reasonOf(state),
      to: nameOf(answering),
    });
}

/** Returns why a provider was moved after the others. */
function reasonOf({ breaker, health, stopped }: ProviderState): string {
  if (stopped !== undefined) return stopped;
  if (breaker.isOpen()) return 'its circuit breaker is open';
  return unhealthyBecause(health.view());
}

function nameOf({ provider, model }: RouteTarget): string {
  return model === undefined ? provider : `${provider}/${model}`;
}
