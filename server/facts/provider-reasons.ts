/** The problems of providers, for `/health` and alerts. */
import { unhealthyBecause } from '../../stages/providers/health.ts';
import type { ProviderStates, ProviderStateView } from '../../stages/providers/states.ts';
import { conditionOf } from '../words/problems.ts';
import { statesJson } from './provider-states.ts';

/** Returns one line for each provider that does not work. */
export function providerReasons(states: ProviderStates): string[] {
  const shown = statesJson(states).providers;
  return [...states.view()].flatMap(([name, view]) => {
    const why = unusedBecause(name, view);
    if (why !== undefined) return [why];
    const [word, tone] = conditionOf(shown[name]!);
    return tone === 'bad' ? [`provider ${name}: ${word}`] : [];
  });
}

/**
 * Returns the number of providers to which svc sends nothing for now. One that refuses what it is
 * sent is not counted: that may be a single client's fault, such as a mistyped key.
 */
export function unhealthyProviders(states: ProviderStates): number {
  return [...states.view()].filter(([name, view]) => unusedBecause(name, view) !== undefined)
    .length;
}

function unusedBecause(
  name: string,
  { stopped, breaker, health }: ProviderStateView,
): string | undefined {
  if (stopped !== undefined) return `custom provider ${name}: ${stopped}`;
  if (breaker.state === 'open') return `provider ${name}: its circuit breaker is open`;
  return health.state === 'unhealthy' ? `provider ${name}: ${unhealthyBecause(health)}` : undefined;
}
