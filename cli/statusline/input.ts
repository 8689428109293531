/**
 * The data that Claude Code passes to a statusline on stdin (as of 2.1.332): the model, the context
 * window, its cost estimate, its prompt cache, and subscription windows. All of it may be missing.
 */
import { numberOf, objectOf, stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { plausibleTime } from '../../stages/limits/pace.ts';

/** One window of a plan. */
export interface PlanWindow {
  /** `5h`, `7d`, `spend` … */
  readonly name: string;
  /** Used share, 0 to 1. */
  readonly used: number;
  /** Milliseconds since the epoch, if known. */
  readonly resetsAtMs: number | undefined;
  /** When it is used up at the current rate, if that is before its reset. */
  readonly usedUpAtMs: number | undefined;
}

export interface ClientStatus {
  readonly sessionId: string | undefined;
  readonly model: string | undefined;
  readonly directory: string | undefined;
  /** Share of the context window, 0 to 1. */
  readonly contextUsed: number | undefined;
  readonly contextTokens: number | undefined;
  readonly costUsd: number | undefined;
  readonly cacheRatio: number | undefined;
  readonly windows: readonly PlanWindow[];
}

/** Window names of Claude Code, and of providers. */
const WINDOWS: readonly (readonly [field: string, name: string])[] = [
  ['five_hour', '5h'],
  ['seven_day', '7d'],
  ['spend_limit', 'spend'],
];

/** Largest values shown; anything larger, or negative, is a mistake of the client. */
const PLAUSIBLE = { percent: 1000, tokens: 1e12, usd: 1e9 } as const;

/** Parses the document; unexpected values are ignored. */
export function readClientStatus(document: JsonObject, nowMs: number): ClientStatus {
  const context = objectOf(document['context_window']);
  const usedPercent = upTo(PLAUSIBLE.percent, context['used_percentage']);
  const directory =
    stringOf(objectOf(document['workspace'])['current_dir']) ?? stringOf(document['cwd']);
  const { display_name: name, id } = objectOf(document['model']);
  return {
    sessionId: stringOf(document['session_id']),
    model: stringOf(name) ?? stringOf(id),
    directory: directory?.split('/').findLast((part) => part !== ''),
    contextUsed: usedPercent === undefined ? undefined : usedPercent / 100,
    contextTokens: upTo(PLAUSIBLE.tokens, context['context_window_size']),
    costUsd: upTo(PLAUSIBLE.usd, objectOf(document['cost'])['total_cost_usd']),
    cacheRatio: cacheRatioOf(document, objectOf(context['current_usage'])),
    windows: windowsOf(objectOf(document['rate_limits']), nowMs),
  };
}

/**
 * Returns the session's cache ratio; for versions that do not report it, that of the newest
 * request.
 */
function cacheRatioOf(document: JsonObject, usage: JsonObject): number | undefined {
  const ratio = upTo(1, objectOf(document['prompt_cache'])['hit_ratio']);
  if (ratio !== undefined) return ratio;
  const [input, written, read] = [
    'input_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
  ].map((name) => upTo(PLAUSIBLE.tokens, usage[name]) ?? 0) as [number, number, number];
  return written + read === 0 ? undefined : read / (input + written + read);
}

function windowsOf(limits: JsonObject, nowMs: number): PlanWindow[] {
  return WINDOWS.flatMap(([field, name]) => {
    const { used_percentage: percent, resets_at: resetsAtS } = objectOf(limits[field]);
    const used = upTo(PLAUSIBLE.percent, percent);
    if (used === undefined) return [];
    const atS = numberOf(resetsAtS);
    const resetsAtMs = plausibleTime(atS === undefined ? undefined : atS * 1000, nowMs);
    return [{ name, used: used / 100, resetsAtMs, usedUpAtMs: undefined }];
  });
}

/** Returns a number from 0 to `max`; undefined for anything else. */
function upTo(max: number, value: unknown): number | undefined {
  const number = numberOf(value);
  return number !== undefined && number >= 0 && number <= max ? number : undefined;
}
