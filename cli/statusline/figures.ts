/** Combines the client's data with the figures in the proxy's file. */
import { objectOf, numberOf, objectsOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { plausibleTime, usedUpAtMs } from '../../stages/limits/pace.ts';
import { readClientStatus } from './input.ts';
import type { ClientStatus, PlanWindow } from './input.ts';

const HOUR_MS = 3_600_000;

export interface Figures extends Omit<ClientStatus, 'windows'> {
  /** Requests of the session; of the whole day if there is no client. */
  readonly requests: number | undefined;
  readonly savedUsd: number | undefined;
  readonly savedTokens: number | undefined;
  /** The most urgent window first. */
  readonly windows: readonly PlanWindow[];
  /** Whether a proxy of this home runs, and has seen the session. */
  readonly proxy: 'up' | 'off' | 'unused';
}

/**
 * Returns the figures; `client` is the JSON on stdin, undefined if there is none; `status` is the
 * proxy's file, empty without one.
 */
export function figuresOf(
  client: JsonObject | undefined,
  status: JsonObject,
  { nowMs, isRunning }: { readonly nowMs: number; readonly isRunning: boolean },
): Figures {
  const clientStatus = readClientStatus(client ?? {}, nowMs);
  const session = sums(status, clientStatus.sessionId, nowMs);
  const known = clientStatus.sessionId === undefined || session !== undefined;
  const { cost_usd: cost, saved_usd: saved, cache_ratio: ratio } = session ?? {};
  const own = known
    ? limitsOf(status, clientStatus.sessionId === undefined ? undefined : session, nowMs)
    : [];
  const others = clientStatus.windows.filter(
    ({ name, resetsAtMs }) =>
      !own.some((one) => one.name === name) && (resetsAtMs === undefined || resetsAtMs > nowMs),
  );
  return {
    ...clientStatus,
    requests: numberOf(session?.['requests']),
    costUsd: numberOf(cost) ?? clientStatus.costUsd,
    savedUsd: numberOf(saved),
    savedTokens: numberOf(session?.['saved_tokens']),
    cacheRatio: numberOf(ratio) ?? clientStatus.cacheRatio,
    windows: [...own, ...others].toSorted(byNearness),
    proxy: !isRunning ? 'off' : known ? 'up' : 'unused',
  };
}

/**
 * Returns the sums of the client's session, or of today without a client; undefined if the proxy
 * has seen none of it.
 */
function sums(
  status: JsonObject,
  sessionId: string | undefined,
  nowMs: number,
): JsonObject | undefined {
  if (sessionId === undefined) {
    const today = objectOf(status['today']);
    return today['day'] === new Date(nowMs).toISOString().slice(0, 10) ? today : undefined;
  }
  const sessions = objectOf(status['sessions']);
  return Object.hasOwn(sessions, sessionId) ? objectOf(sessions[sessionId]) : undefined;
}

/** Returns the plan windows of the session's credential; all of them without a session. */
function limitsOf(
  status: JsonObject,
  session: JsonObject | undefined,
  nowMs: number,
): PlanWindow[] {
  return objectsOf(status['limits']).flatMap((limit) => {
    const used = numberOf(limit['used']);
    const name = stringOf(limit['window']);
    const resetsAtMs = plausibleTime(timeOf(limit['resets_at']), nowMs);
    const isOurs =
      session === undefined ||
      (limit['provider'] === session['provider'] && limit['key'] === session['key']);
    if (used === undefined || name === undefined || limit['kind'] !== 'plan' || !isOurs) return [];
    // The window has been reset since, and its current use is unknown.
    if (resetsAtMs !== undefined && resetsAtMs <= nowMs) return [];
    return [{ name, used, resetsAtMs, usedUpAtMs: endOf(limit, { used, resetsAtMs }, nowMs) }];
  });
}

/**
 * When the window is used up if its use goes on from now; the file is as old as the last request.
 */
function endOf(
  limit: JsonObject,
  { used, resetsAtMs }: Pick<PlanWindow, 'used' | 'resetsAtMs'>,
  nowMs: number,
): number | undefined {
  const atMs = timeOf(limit['used_up_at']);
  const perHour = numberOf(limit['used_per_hour']);
  if (atMs === undefined || perHour === undefined || resetsAtMs === undefined) return atMs;
  return usedUpAtMs({ atMs: nowMs, used }, perHour / HOUR_MS, resetsAtMs);
}

function timeOf(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Sorts by the time at which a window is used up, then by fullness. */
function byNearness(a: PlanWindow, b: PlanWindow): number {
  const at = (window: PlanWindow) => window.usedUpAtMs ?? Number.POSITIVE_INFINITY;
  return at(a) === at(b) ? b.used - a.used : at(a) - at(b);
}
