/** Evaluates the rules, and records in the home folder since when each fires. */
import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toSvcError } from '../../engine/index.ts';
import type { Config } from '../config/config.ts';
import { ensureHome, writePrivateFile } from '../config/home.ts';
import { measure } from './measure.ts';
import type { MeasureOptions } from './measure.ts';

export type AlertRule = Config['alerts'][number];

/** State of a rule between evaluations; times in milliseconds since the epoch. */
export interface AlertState {
  /** Since when the rule fires; null while it does not. */
  readonly sinceMs: number | null;
  /** Time of the last announcement. */
  readonly announcedMs: number | null;
  /** Whether the current firing was announced. */
  readonly isAnnounced: boolean;
}

export interface AlertResult {
  readonly rule: AlertRule;
  /** Measured value; null if there was nothing to measure. */
  readonly value: number | null;
  /** Why the measurement failed. */
  readonly failure: string | undefined;
  readonly isFiring: boolean;
  readonly sinceMs: number | null;
  /** What to announce now: `begun`, unless a cooldown is active, or `ended`. */
  readonly news: 'begun' | 'ended' | undefined;
}

const QUIET: AlertState = { sinceMs: null, announcedMs: null, isAnnounced: false };

/** Evaluates all rules and stores their states; throws `config` if they cannot be stored. */
export async function evaluateAlerts(
  rules: readonly AlertRule[],
  options: MeasureOptions,
): Promise<readonly AlertResult[]> {
  const file = join(options.home, 'alerts.json');
  // The home folder may not exist if no proxy has run: the disk is measured there, and commands
  // start there.
  ensureHome(options.home);
  const states = await readStates(file);
  const evaluated = await Promise.all(
    rules.map(async (rule) => {
      let failure: string | undefined;
      const value = await measure(rule.metric, rule.windowMs, options).catch((thrown: unknown) => {
        failure = toSvcError(thrown).message;
        return null;
      });
      return evaluateRule(rule, value, failure, states.get(rule.name) ?? QUIET, options.nowMs);
    }),
  );
  const newStates = evaluated.map(({ result, state }) => [result.rule.name, state]);
  if (JSON.stringify(newStates) !== JSON.stringify([...states]))
    writePrivateFile(file, `${JSON.stringify(newStates)}\n`);
  return evaluated.map(({ result }) => result);
}

/** Evaluates one rule for a measurement. A failed measurement changes nothing. */
export function evaluateRule(
  rule: AlertRule,
  value: number | null,
  failure: string | undefined,
  before: AlertState,
  nowMs: number,
): { readonly result: AlertResult; readonly state: AlertState } {
  const holds = failure === undefined ? exceeds(rule, value) : before.sinceMs !== null;
  const toOutcome = (state: AlertState, news: AlertResult['news']) => ({
    state,
    result: { rule, value, failure, isFiring: holds, sinceMs: state.sinceMs, news },
  });
  if (!holds) {
    const news = before.isAnnounced ? 'ended' : undefined;
    return toOutcome({ sinceMs: null, announcedMs: before.announcedMs, isAnnounced: false }, news);
  }
  const sinceMs = before.sinceMs ?? nowMs;
  const isCooling =
    before.announcedMs !== null &&
    nowMs >= before.announcedMs &&
    nowMs < before.announcedMs + rule.cooldownMs;
  if (before.isAnnounced || isCooling) return toOutcome({ ...before, sinceMs }, undefined);
  return toOutcome({ sinceMs, announcedMs: nowMs, isAnnounced: true }, 'begun');
}

/** An absent value exceeds no limit: without requests none is slow. */
function exceeds({ above, below }: AlertRule, value: number | null): boolean {
  if (value === null) return false;
  return (above !== null && value > above) || (below !== null && value < below);
}

/**
 * Returns the alert as a sentence, such as `slow: p95_latency_ms is 31200, fires above 20000: a
 * provider is slow`.
 */
export function alertText({ rule, value, failure }: AlertResult): string {
  const limit = rule.above === null ? `below ${rule.below}` : `above ${rule.above}`;
  const now = value === null ? 'not measured' : String(Number(value.toFixed(4)));
  const message = rule.message === null ? '' : `: ${rule.message}`;
  const why = failure === undefined ? '' : ` (${failure})`;
  return `${rule.name}: ${rule.metric} is ${now}${why}, fires ${limit}${message}`;
}

/** Returns the results as JSON. */
export function alertsJson(results: readonly AlertResult[]) {
  return {
    firing: results.some(({ isFiring }) => isFiring),
    alerts: results.map((result) => ({
      name: result.rule.name,
      metric: result.rule.metric,
      above: result.rule.above,
      below: result.rule.below,
      value: result.value,
      firing: result.isFiring,
      since: result.sinceMs === null ? null : new Date(result.sinceMs).toISOString(),
      news: result.news ?? null,
      message: result.rule.message,
      trouble: result.failure ?? null,
      text: alertText(result),
    })),
  };
}

export type AlertsJson = ReturnType<typeof alertsJson>;

/** A missing or foreign file means no states: the alerts start over. */
async function readStates(file: string): Promise<ReadonlyMap<string, AlertState>> {
  const states = new Map<string, AlertState>();
  try {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    const parsed: unknown = JSON.parse(await readFile(file, { encoding: 'utf8', flag }));
    for (const entry of Array.isArray(parsed) ? (parsed as unknown[]) : []) {
      const [name, state]: unknown[] = Array.isArray(entry) ? entry : [];
      if (typeof name === 'string' && isState(state)) states.set(name, state);
    }
  } catch {
    states.clear();
  }
  return states;
}

function isState(value: unknown): value is AlertState {
  if (typeof value !== 'object' || value === null) return false;
  const isTime = (time: unknown) => time === null || Number.isSafeInteger(time);
  return (
    'sinceMs' in value &&
    isTime(value.sinceMs) &&
    'announcedMs' in value &&
    isTime(value.announcedMs) &&
    'isAnnounced' in value &&
    typeof value.isAnnounced === 'boolean'
  );
}
