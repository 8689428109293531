/** Skips a provider whose plan is nearly used up, if configured and if another one can answer. */
import type { Limit } from '../limits/plan-limits.ts';
import type { RouteTarget } from '../model/request.ts';
import type { AttemptScope } from './attempt-scope.ts';
import type { Prepared } from './request/prepared.ts';

/** Returns why the provider is not called; undefined if it is. */
export function planLimitReason(
  prepared: Prepared,
  { credential }: RouteTarget,
  { services, run }: AttemptScope,
): string | undefined {
  const { provider, model } = prepared;
  const { fallbackAtPercent } = provider;
  if (fallbackAtPercent === undefined) return undefined;
  const full = services.planLimits
    .list()
    .filter(
      (limit) =>
        limit.provider === provider.name &&
        limit.kind === 'plan' &&
        isOfModel(limit.name, model) &&
        (limit.used * 100 >= fallbackAtPercent || limit.status === 'rejected'),
    );
  if (full.length === 0) return undefined;
  const ofKey = (key: string) => full.find((limit) => limit.key === key);
  if (credential !== 'client') {
    // One key below the limit is enough: the next one is tried if a key is refused.
    const limits = provider.keys.map(({ label }) => ofKey(label));
    const [first] = limits;
    return first === undefined || limits.includes(undefined)
      ? undefined
      : describeLimit(first, fallbackAtPercent);
  }
  const sent = prepared.wire(undefined, run.signal).headers;
  const own = ofKey(
    services.planLimits.ownerOf({ provider: provider.name, label: undefined, sent }).key,
  );
  return own && describeLimit(own, fallbackAtPercent);
}

/** `7d_opus` is a window for Opus only. */
function isOfModel(window: string, model: string | undefined): boolean {
  const [, ...family] = window.split('_');
  return family.length === 0 || model?.includes(family.join('_')) === true;
}

function describeLimit({ name, used, provider }: Limit, percent: number): string {
  const share = Math.round(used * 100);
  return `${share} % of the plan's window ${name} is used; providers.${provider}.fallback_at_percent is ${percent}`;
}
