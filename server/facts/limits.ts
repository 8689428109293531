/** The limits of plans and keys, as `svc limits` and `/limits` show them. */
import type { Limit, PlanLimits } from '../../stages/limits/plan-limits.ts';

/**
 * Returns all known limits, plans first and fullest first. Keys are named by label or hash; nothing
 * here is secret.
 */
export function limitsJson(planLimits: Pick<PlanLimits, 'list'>) {
  return { limits: planLimits.list().map(toJson) };
}

function toJson(limit: Limit) {
  const { provider, key, kind, name, used, status, usedPerHour } = limit;
  return {
    provider,
    key,
    kind,
    window: name,
    // Share of 1; a provider may let a plan exceed it.
    used,
    status: status ?? null,
    resets_at: isoOf(limit.resetsAtMs),
    used_per_hour: usedPerHour ?? null,
    // Null if it resets first.
    used_up_at: isoOf(limit.usedUpAtMs),
    // Since the window began, as far as svc saw it.
    spared_tokens: limit.spared.tokens,
    spared_requests: limit.spared.requests,
    seen_at: isoOf(limit.seenAtMs),
  };
}

/** One limit as shown. */
export type LimitJson = ReturnType<typeof toJson>;

function isoOf(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

/**
 * Returns the figures that alerts watch: the fullest plan window, and minutes until one is used up;
 * null for none.
 */
export function planFigures(planLimits: Pick<PlanLimits, 'list'>, nowMs: number) {
  const plans = planLimits.list().filter(({ kind }) => kind === 'plan');
  const ends = plans.flatMap(({ usedUpAtMs }) => usedUpAtMs ?? []);
  return {
    planUsedPercent: plans.length === 0 ? null : Math.max(...plans.map(({ used }) => used)) * 100,
    planMinutesLeft: ends.length === 0 ? null : Math.max(0, Math.min(...ends) - nowMs) / 60_000,
  };
}
