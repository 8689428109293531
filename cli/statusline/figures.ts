/** Puts together what the client says and what the proxy left in its file. */
import { objectOf, numberOf, objectsOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { readClientStatus } from './input.ts';
import type { ClientStatus, PlanWindow } from './input.ts';

export interface Figures extends Omit<ClientStatus, 'windows'> {
  /** Those of the session; of all of today where no client asks. */
  readonly requests: number | undefined;
  readonly savedUsd: number | undefined;
  readonly savedTokens: number | undefined;
  /** The one to look at first, then the others. */
  readonly windows: readonly PlanWindow[];
  /** Whether a proxy of this home runs, and has seen the session. */
  readonly proxy: 'up' | 'off' | 'unused';
}

/** `client` is what stands on stdin, undefined for nothing; `status` is the proxy's file, empty without one. */
export function figuresOf(
  client: JsonObject | undefined,
  status: JsonObject,
  { nowMs, isRunning }: { readonly nowMs: number; readonly isRunning: boolean },
): Figures {
  const said = readClientStatus(client ?? {});
  const session = sums(status, said.sessionId, nowMs);
  const known = said.sessionId === undefined || session !== undefined;
  const { cost_usd: cost, saved_usd: saved, cache_ratio: ratio } = session ?? {};
  const own = known
    ? limitsOf(status, said.sessionId === undefined ? undefined : session, nowMs)
    : [];
  const others = said.windows.filter(
    ({ name, resetsAtMs }) =>
      !own.some((one) => one.name === name) && (resetsAtMs === undefined || resetsAtMs > nowMs),
  );
  return {
    ...said,
    requests: numberOf(session?.['requests']),
    costUsd: numberOf(cost) ?? said.costUsd,
    savedUsd: numberOf(saved),
    savedTokens: numberOf(session?.['saved_tokens']),
    cacheRatio: numberOf(ratio) ?? said.cacheRatio,
    windows: [...own, ...others].toSorted(byNearness),
    proxy: !isRunning ? 'off' : known ? 'up' : 'unused',
  };
}

/** Of the client's session, or of today where no client asks; undefined where the proxy has seen nothing of it. */
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

/** The plans' windows of the session's credential; of all of them without a session. */
function limitsOf(
  status: JsonObject,
  session: JsonObject | undefined,
  nowMs: number,
): PlanWindow[] {
  return objectsOf(status['limits']).flatMap((limit) => {
    const used = numberOf(limit['used']);
    const name = stringOf(limit['window']);
    const resetsAtMs = timeOf(limit['resets_at']);
    const isOurs =
      session === undefined ||
      (limit['provider'] === session['provider'] && limit['key'] === session['key']);
    if (used === undefined || name === undefined || limit['kind'] !== 'plan' || !isOurs) return [];
    // It has started again since, and nobody has said how much of it is used now.
    if (resetsAtMs !== undefined && resetsAtMs <= nowMs) return [];
    return [{ name, used, resetsAtMs, usedUpAtMs: timeOf(limit['used_up_at']) }];
  });
}

function timeOf(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** What is used up first comes first; then what is fullest. */
function byNearness(a: PlanWindow, b: PlanWindow): number {
  const at = ({ usedUpAtMs }: PlanWindow) => usedUpAtMs ?? Number.POSITIVE_INFINITY;
  return at(a) === at(b) ? b.used - a.used : at(a) - at(b);
}
