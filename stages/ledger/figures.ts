/**
 * The meaning of the ledger's sums: one definition for the live window, which adds rows as they
 * come, and for the file, which is queried later. A test compares the two.
 */
import { columnName, FIGURES } from './columns.ts';
import type { FieldName, FigureName } from './columns.ts';
import { compileFunction } from './compile-function.ts';
import type { LedgerRow } from './row.ts';
import { isFailure, isUnpriced } from './row.ts';

/** Fields of a row that can be added up. */
type Addend = {
  [K in FieldName]: LedgerRow[K] extends number | null ? K : never;
}[FieldName];

/** A condition on a row, as the text of an expression and in SQL; both must mean the same. */
interface Condition {
  readonly of: string;
  readonly sql: string;
}

/** True for a request that failed, in SQL over its row. Must match `isFailure`. */
export const FAILED_SQL = `outcome IN ('error', 'partial') OR coalesce(status, 0) >= 400`;

/**
 * True for a billed request without a known price, in SQL over its row. Must match `isUnpriced`.
 */
export const UNPRICED_SQL =
  'cost_nano_usd IS NULL AND (input_tokens_sent IS NOT NULL OR output_tokens IS NOT NULL OR usage_estimated = 1)';

const CONDITIONS = {
  failed: { of: 'isFailure(row)', sql: FAILED_SQL },
  cancelled: { of: `row.outcome === 'cancelled'`, sql: `outcome = 'cancelled'` },
  hit: { of: 'row.cacheHit', sql: 'cache_hit = 1' },
  streamed: { of: 'row.stream', sql: 'stream = 1' },
  unpriced: {
    of: 'isUnpriced(row)',
    sql: UNPRICED_SQL,
  },
} as const satisfies Readonly<Record<string, Condition>>;

function known(field: FieldName): Condition {
  return { of: `row.${field} !== null`, sql: `${columnName(field)} IS NOT NULL` };
}

/**
 * One sum: of a field, or of the requests themselves; with `when`, only of those that meet the
 * condition.
 */
interface Sum {
  readonly of?: Addend;
  readonly when?: Condition;
}

/**
 * Every sum and its definition: the sums in memory, those of hours and those in SQL follow from
 * here.
 */
const SUMS = {
  requests: {},
  /** Requests that failed, as `isFailure` defines it. */
  errors: { when: CONDITIONS.failed },
  /** Requests whose client disconnected. */
  cancelled: { when: CONDITIONS.cancelled },
  /** Requests answered from our own response cache. */
  cacheHits: { when: CONDITIONS.hit },
  /** Requests that asked for a stream. */
  streamed: { when: CONDITIONS.streamed },
  /** Input tokens as the clients sent them, without injected ones. */
  inputTokens: { of: 'inputTokensRaw' },
  /** Input tokens as sent upstream. */
  sentInputTokens: { of: 'inputTokensSent' },
  savedTokens: { of: 'savedTokens' },
  /** Input tokens that were injected from the vault. */
  addedTokens: { of: 'addedTokens' },
  outputTokens: { of: 'outputTokens' },
  /** Tokens that providers read from their own prompt caches. */
  cacheReadTokens: { of: 'cacheReadTokens' },
  cacheWriteTokens: { of: 'cacheWriteTokens' },
  /** Requests with our cache markers. */
  marked: { when: known('breakpoints') },
  /** The part of `cacheReadTokens` that marked requests read. */
  markedReadTokens: { of: 'cacheReadTokens', when: known('breakpoints') },
  /** The part of `cacheWriteTokens` that they wrote. */
  markedWriteTokens: { of: 'cacheWriteTokens', when: known('breakpoints') },
  /** Whole nano-dollars; of `priced` requests only, see `knownCost`. */
  costNanoUsd: { of: 'costNanoUsd' },
  /** What limits count in addition to it. */
  budgetNanoUsd: { of: 'budgetNanoUsd' },
  /** The same for the saving of all sources together; see `knownCostSaved`. */
  costSavedNanoUsd: { of: 'costSavedNanoUsd' },
  /** The part of it due to cache markers. */
  costSavedByBreakpointsNanoUsd: { of: 'costSavedByBreakpointsNanoUsd' },
  /** Requests from which old results were left out. */
  forgetting: { when: known('forgottenTokens') },
  /** The part of `savedTokens` due to these. */
  forgottenTokens: { of: 'forgottenTokens' },
  /** The part of the saved cost due to them. */
  costSavedByForgettingNanoUsd: { of: 'costSavedByForgettingNanoUsd' },
  /** Requests whose long results were sent in part. */
  longResults: { when: known('longResultTokens') },
  /** The part of `savedTokens` due to these. */
  longResultTokens: { of: 'longResultTokens' },
  /** The part of the saved cost due to them. */
  costSavedByLongResultsNanoUsd: { of: 'costSavedByLongResultsNanoUsd' },
  /** Requests whose tool definitions were trimmed. */
  trimmedTools: { when: known('toolTokens') },
  /** The part of `savedTokens` due to these. */
  toolTokens: { of: 'toolTokens' },
  /** The part of the saved cost due to them. */
  costSavedByToolsNanoUsd: { of: 'costSavedByToolsNanoUsd' },
  /** The part of it due to cached responses. */
  costSavedByAnswersNanoUsd: { of: 'costSavedNanoUsd', when: CONDITIONS.hit },
  /** The same for the added tokens; see `knownCostAdded`. */
  costAddedNanoUsd: { of: 'costAddedNanoUsd' },
  /** Requests whose cost is known. */
  priced: { when: known('costNanoUsd') },
  /** Requests with known tokens but without a known price. */
  unpriced: { when: CONDITIONS.unpriced },
  /** The sum over `timed` requests, in milliseconds. */
  latencySumMs: { of: 'latencyMs' },
  timed: { when: known('latencyMs') },
} satisfies Readonly<Record<string, Sum>>;

type SumName = keyof typeof SUMS | FigureName;

const EACH = [
  ...Object.entries(SUMS),
  ...FIGURES.map(({ field }) => [field, { of: field }] as const),
] as readonly (readonly [SumName, Sum])[];

/** Each sum, and what a row adds to it in SQL. */
export const ROW_SUMS = EACH.map(([name, { of, when }]) => {
  const added = of === undefined ? '1' : `coalesce(${columnName(of)}, 0)`;
  const sql = when === undefined ? added : `CASE WHEN ${when.sql} THEN ${added} ELSE 0 END`;
  return [name, sql] as const;
});

/** Mutable sums. */
export type RunningTotals = Record<SumName, number>;

/** Sums over requests. Rows in which a figure is `null` are not counted in that figure. */
export type Totals = Readonly<RunningTotals>;

const empty = compileFunction<() => RunningTotals>(
  [],
  `return { ${EACH.map(([name]) => `${name}: 0`).join(', ')} }`,
);
const add = compileFunction<
  (
    totals: RunningTotals,
    row: LedgerRow,
    failed: typeof isFailure,
    unpriced: typeof isUnpriced,
  ) => void
>(
  ['totals', 'row', 'isFailure', 'isUnpriced'],
  EACH.map(([name, { of, when }]) => {
    const added = `totals.${name} += ${of === undefined ? 1 : `row.${of} ?? 0`};`;
    return when === undefined ? added : `if (${when.of}) ${added}`;
  }).join('\n'),
);

const addEach = compileFunction<(totals: RunningTotals, part: Totals) => void>(
  ['totals', 'part'],
  EACH.map(([name]) => `totals.${name} += part.${name};`).join('\n'),
);

/** Returns the sums over no requests. */
export function emptyTotals(): RunningTotals {
  return empty();
}

/** Adds up the sums of several groups. */
export function addTotals(groups: readonly Totals[]): Totals {
  const all = emptyTotals();
  for (const group of groups) addEach(all, group);
  return all;
}

/** Subtracts sums that are a part of `totals`. */
export function subtractTotals(totals: RunningTotals, part: Totals): void {
  for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] -= part[name];
}

/** Adds a row to the sums. */
export function addToTotals(totals: RunningTotals, row: LedgerRow): void {
  add(totals, row, isFailure, isUnpriced);
}

/**
 * Returns the cost of the requests, in nano-dollars; `null` if tokens were counted and none of them
 * has a price.
 */
export function knownCost(totals: Totals): number | null {
  return hasNoPrice(totals) ? null : totals.costNanoUsd;
}

/** Returns what the saved tokens would have cost, in the same way. */
export function knownCostSaved(totals: Totals): number | null {
  return hasNoPrice(totals) ? null : totals.costSavedNanoUsd;
}

/** Returns the cost saved by compression alone: the saving minus all other sources. */
export function knownCostSavedByCompression(totals: Totals): number | null {
  const saved = knownCostSaved(totals);
  if (saved === null) return null;
  return Object.values(LANES).reduce((rest, [, lane]) => rest - totals[lane], saved);
}

/**
 * The sources of savings besides compression: the sum of the requests with each, and of the cost it
 * saved.
 */
const LANES = {
  breakpoints: ['marked', 'costSavedByBreakpointsNanoUsd'],
  answers: ['cacheHits', 'costSavedByAnswersNanoUsd'],
  forgetting: ['forgetting', 'costSavedByForgettingNanoUsd'],
  longResults: ['longResults', 'costSavedByLongResultsNanoUsd'],
  tools: ['trimmedTools', 'costSavedByToolsNanoUsd'],
} as const satisfies Readonly<Record<string, readonly [keyof Totals, keyof Totals]>>;

/** Returns the cost saved by one of the other sources; `null` if no request has it. */
export function knownCostSavedBy(lane: keyof typeof LANES, totals: Totals): number | null {
  const [requests, saved] = LANES[lane];
  return totals[requests] === 0 || hasNoPrice(totals) ? null : totals[saved];
}

/** Returns the cost of the added tokens, in the same way. */
export function knownCostAdded(totals: Totals): number | null {
  return hasNoPrice(totals) ? null : totals.costAddedNanoUsd;
}

/** Returns the saving minus what was added, in the unit of both; `null` if neither was measured. */
export function netSaving(saved: number | null, added: number | null): number | null {
  return saved === null && added === null ? null : (saved ?? 0) - (added ?? 0);
}

/** Returns the net saving of the requests after what was added, in nano-dollars. */
export function knownNetSaving(totals: Totals): number | null {
  return netSaving(knownCostSaved(totals), knownCostAdded(totals));
}

/**
 * Returns what requests would have cost as the clients sent them: the cost plus the net saving, in
 * the unit of both. An unmeasured saving counts as none; `null` without a known cost.
 */
export function costWithout(cost: number | null, net: number | null): number | null {
  return cost === null ? null : cost + (net ?? 0);
}

/** Rounds milliseconds for responses and screens: to two decimals, more would be noise. */
export function roundedMs<T extends number | null>(ms: T): T {
  return (ms === null ? null : Math.round(ms * 100) / 100) as T;
}

/** Converts whole nano-dollars to dollars; `null` stays `null`. */
export function toUsd<T extends number | null>(nanoUsd: T): T {
  return (nanoUsd === null ? null : nanoUsd / 1e9) as T;
}

function hasNoPrice({ priced, unpriced }: Totals): boolean {
  return priced === 0 && unpriced > 0;
}

/**
 * Returns the mean latency of the requests that were timed, in milliseconds; `null` if none was.
 */
export function averageLatencyMs(totals: Totals): number | null {
  return totals.timed === 0 ? null : totals.latencySumMs / totals.timed;
}

/**
 * Returns saved tokens as a percentage of the clients' input tokens; `null` if no input was
 * measured.
 */
export function savedPercent(totals: Totals): number | null {
  return totals.inputTokens === 0 ? null : (100 * totals.savedTokens) / totals.inputTokens;
}

/**
 * Returns the share of the input that providers read from their prompt cache, 0 to 1; `null` if
 * they reported no cache. Cache writes say little: some kinds of providers do not report them.
 */
export function promptCacheRatio(totals: Totals): number | null {
  const { cacheReadTokens, cacheWriteTokens, sentInputTokens } = totals;
  if (cacheReadTokens + cacheWriteTokens === 0 || sentInputTokens === 0) return null;
  return Math.min(1, cacheReadTokens / sentInputTokens);
}
