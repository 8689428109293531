/**
 * Summary of a time range, shared by both dashboards: headline figures, the bill, savings by
 * source.
 */
import type { LiveState, ReportJson } from '../contract.ts';
import { budgetLeft } from '../../words/problems.ts';
import type { BudgetLeft, Tone } from '../../words/problems.ts';
import { LOW_BUDGET_PERCENT, fallbacksOf, thoughtsDropped } from './conditions.ts';
import { planWindows } from './plan-windows.ts';
import { counted } from '../../words/counted.ts';
import {
  NONE,
  bytes,
  dollars,
  duration,
  percent,
  share,
  short,
  spanOf,
  wholeNumber,
} from './format.ts';

export interface HeadlineFigure {
  readonly id: 'requests' | 'net_cost_saved' | 'cost' | 'errors' | 'p50_ms';
  readonly name: string;
  readonly value: string;
  readonly detail: string;
  readonly tone?: Tone;
}

export function headlineFigures(
  live: LiveState,
  { totals, latency }: ReportJson,
): readonly HeadlineFigure[] {
  const failed = totals.requests === 0 ? null : totals.errors / totals.requests;
  return [
    {
      id: 'requests',
      name: 'Requests',
      value: short(totals.requests),
      detail: `${wholeNumber(live.running)} running, up ${spanOf(live.health.uptime_seconds)}`,
    },
    {
      id: 'net_cost_saved',
      name: 'Saved',
      value: dollars(totals.net_cost_saved),
      detail: `${short(totals.saved_tokens)} tokens${ofInput(totals.saved_percent)}`,
      ...((totals.net_cost_saved ?? 0) > 0 && { tone: 'good' }),
    },
    {
      id: 'cost',
      name: 'Paid',
      value: dollars(totals.cost),
      detail: `${dollars(totals.cost_without)} without svc${totals.unpriced > 0 ? `, ${wholeNumber(totals.unpriced)} without a price` : ''}`,
    },
    {
      id: 'errors',
      name: 'Failed',
      value: short(totals.errors),
      detail: `${failed === null ? 'nothing was asked' : `${share(failed)} of requests`}${totals.cancelled > 0 ? `, ${wholeNumber(totals.cancelled)} cancelled by the client` : ''}`,
      ...(totals.errors > 0 && { tone: 'bad' }),
    },
    {
      id: 'p50_ms',
      name: 'Median time',
      value: duration(latency.p50_ms),
      detail: `p95 ${duration(latency.p95_ms)}, p99 ${duration(latency.p99_ms)}`,
    },
  ];
}

export interface OutlookFact {
  readonly id:
    | 'fallback'
    | 'attempts_failed'
    | 'budget_left'
    | 'plan_used'
    | 'thoughts_dropped'
    | 'alerts';
  readonly name: string;
  readonly value: string;
  readonly detail: string;
  readonly tone?: Tone;
}

/**
 * Returns the second row of the first screen: failures that clients do not see, and limits about to
 * be reached.
 */
export function outlookFacts(
  live: LiveState,
  // Missing from a proxy of an older version.
  { attempts }: { readonly attempts?: ReportJson['attempts'] },
): readonly OutlookFact[] {
  const { answered } = fallbacksOf(live);
  const left = budgetLeft(live.health.budget);
  const dropped = thoughtsDropped(live);
  const [plan] = planWindows(live, Date.now());
  const isWrong = (count: number, tone: Tone) => (count > 0 ? { tone } : {});
  return [
    {
      id: 'fallback',
      name: 'Fallback',
      value: short(answered),
      detail: 'answers in the last hour',
      ...isWrong(answered, 'warn'),
    },
    {
      id: 'attempts_failed',
      name: 'Failed attempts',
      value: short(attempts?.failed),
      detail:
        (attempts?.answered_later ?? 0) > 0
          ? `${short(attempts?.answered_later)} answered later`
          : 'at providers',
      ...isWrong(attempts?.failed ?? 0, 'warn'),
    },
    {
      id: 'budget_left',
      name: 'Budget left',
      value: left === undefined ? NONE : percent(Math.max(0, left.percent)),
      detail: budgetWords(left),
      ...(left !== undefined &&
        left.percent <= LOW_BUDGET_PERCENT && { tone: left.percent <= 0 ? 'bad' : 'warn' }),
    },
    // Most users have no plan, or a plan whose provider does not report its usage.
    ...(plan === undefined
      ? []
      : [
          {
            id: 'plan_used',
            name: 'Plan used',
            value: plan.value,
            detail: `${plan.name}: ${plan.detail}`,
            ...(plan.tone && { tone: plan.tone }),
          } as const,
        ]),
    {
      id: 'thoughts_dropped',
      name: 'Thoughts dropped',
      value: short(dropped),
      detail: 'since the start',
      ...isWrong(dropped, 'warn'),
    },
    {
      id: 'alerts',
      name: 'Alerts',
      value: short(live.alerts.length),
      detail:
        live.alerts.length === 0 ? 'none fires' : live.alerts.map(({ name }) => name).join(', '),
      ...isWrong(live.alerts.length, 'bad'),
    },
  ];
}

function budgetWords(left: BudgetLeft | undefined): string {
  if (left === undefined) return 'no limit is set';
  const when = left.of === 'day' ? 'today' : 'this month';
  return left.limit === null ? when : `${dollars(left.spent)} of ${dollars(left.limit)} ${when}`;
}

/** Returns the share of input in words; empty if it was not measured. */
function ofInput(percentage: number | null): string {
  return percentage === null ? '' : `, ${percent(percentage)} of input`;
}

export interface BillRow {
  readonly name: string;
  readonly value: string;
  readonly tone?: Tone;
}

/** Returns the bill, from what would have been paid to what was paid, the last row. */
export function billOf({ totals, lanes }: ReportJson): readonly BillRow[] {
  const saved = (name: string, { cost_saved_usd: usd }: { cost_saved_usd: number | null }) => ({
    name,
    value: dollars(usd === null || usd === 0 ? usd : -usd),
    ...((usd ?? 0) > 0 && { tone: 'good' as const }),
  });
  return [
    { name: 'Without svc I would have paid', value: dollars(totals.cost_without) },
    saved('Saved by compression', lanes.compression),
    saved('Saved by cache breakpoints that svc set', lanes.cache_breakpoints),
    saved('Saved by old results that were left out', lanes.forgetting),
    saved('Saved by long results in parts', lanes.long_results),
    saved('Saved by trimmed tools', lanes.tools),
    saved('Saved by cached responses', lanes.response_cache),
    { name: 'Added from the vault', value: dollars(totals.cost_added) },
    { name: 'I paid', value: dollars(totals.cost) },
  ];
}

/** Returns what the bill leaves out; undefined if it is complete. */
export function unpricedNote({ totals: { unpriced } }: ReportJson): string | undefined {
  return unpriced === 0
    ? undefined
    : `${counted(unpriced, 'request')} of models without a known price ${unpriced === 1 ? 'is' : 'are'} not in here.`;
}

/** Returns a sentence about what the vault added to requests. */
export function addedWords({ injections, totals }: ReportJson): string {
  return injections.requests === 0
    ? 'Nothing was added to a request.'
    : `${counted(injections.chunks, 'piece')} in ${counted(injections.requests, 'request')}: ${short(totals.tokens_added)} tokens, ${dollars(totals.cost_added)}.`;
}

export interface LaneRow {
  readonly name: string;
  readonly color: 'mark' | 'blue' | 'good' | 'orange' | 'violet';
  /** Dollars; a dash if nothing is credited. */
  readonly worth: string;
  /** Share of all input or all requests, 0 to 1. */
  readonly part: number;
  readonly detail: string;
}

type Lanes = ReportJson['lanes'];

/** The lanes of `/savings`; some may be missing from a proxy of another version. */
export type LaneFigures = { readonly [K in keyof Lanes]?: Partial<Lanes[K]> };

/** The totals that lanes are shares of; a missing total is left out of the text too. */
interface LaneWhole {
  readonly inputTokens?: number;
  readonly requests?: number;
  /** Null if the cache is off. */
  readonly answers?: LiveState['caches']['response_cache'];
}

/** Returns the savings of a range by source. */
export function lanesOf({ caches }: LiveState, { lanes, totals }: ReportJson) {
  const { input_tokens: inputTokens, requests } = totals;
  return laneRows(lanes, { inputTokens, requests, answers: caches.response_cache });
}

/** Returns the savings by source, one lane each as in `/savings`; nothing is counted twice. */
export function laneRows(
  lanes: LaneFigures,
  { inputTokens, requests, answers }: LaneWhole = {},
): readonly LaneRow[] {
  const { compression = {}, cache_breakpoints: marked = {} } = lanes;
  const { response_cache: kept = {}, provider_cache: own = {} } = lanes;
  const ofAll = (count: number | undefined, all: number | undefined): number | null =>
    count === undefined || all === undefined || all === 0 ? null : count / all;
  const percentOf = (count: number | undefined, all: number | undefined): number | null => {
    const part = ofAll(count, all);
    return part === null ? null : 100 * part;
  };
  const partOf = (tokens: number | undefined): number => ofAll(tokens, inputTokens) ?? 0;
  const { requests: markedIn = 0 } = marked;
  const leftOut = (name: string, lane: LaneFigures['tools'], none: string): LaneRow => ({
    name,
    color: 'good',
    worth: dollars(lane?.cost_saved_usd),
    part: partOf(lane?.tokens_saved),
    detail:
      (lane?.requests ?? 0) === 0
        ? none
        : `${short(lane?.tokens_saved)} tokens not sent in ${counted(lane?.requests ?? 0, 'request')}`,
  });
  return [
    {
      name: 'Our compression',
      color: 'mark',
      worth: dollars(compression.cost_saved_usd),
      part: partOf(compression.tokens_saved),
      detail: `${short(compression.tokens_saved)} tokens not sent${ofInput(percentOf(compression.tokens_saved, inputTokens))}`,
    },
    {
      name: 'Cache breakpoints that svc set',
      color: 'blue',
      worth: dollars(marked.cost_saved_usd),
      part: partOf(marked.read_tokens),
      detail:
        markedIn === 0
          ? 'none set'
          : `${short(marked.read_tokens)} tokens read, ${short(marked.written_tokens)} written in ${counted(markedIn, 'request')}`,
    },
    leftOut('Old results left out', lanes.forgetting, 'none left out'),
    leftOut('Long results in parts', lanes.long_results, 'none in parts'),
    leftOut('Definitions of tools, trimmed', lanes.tools, 'none trimmed'),
    {
      name: 'Our response cache',
      color: 'orange',
      worth: dollars(kept.cost_saved_usd),
      part: ofAll(kept.requests, requests) ?? 0,
      detail: `${counted(kept.requests ?? 0, 'answer')} reused${heldWords(answers)}`,
    },
    {
      name: 'The provider’s own cache',
      color: 'violet',
      worth: NONE,
      part: partOf(own.read_tokens),
      detail: `${short(own.read_tokens)} read, ${short(own.written_tokens)} written; not ours`,
    },
  ];
}

function heldWords(answers: LaneWhole['answers']): string {
  if (answers === undefined) return '';
  return answers === null
    ? '; it is off'
    : `; holds ${wholeNumber(answers.entries)} (${bytes(answers.bytes)})`;
}
