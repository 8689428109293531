/**
 * The sums of a ledger by model and by day in a form that can be added to those of others: whole
 * and unrounded, so that derived figures are defined in `figures.ts` only, wherever sums are
 * combined.
 */
import type { LedgerReader } from './tables.ts';
import { columnName } from './columns.ts';
import { isPostgres } from './dialect.ts';
import { addTotals, emptyTotals } from './figures.ts';
import type { Totals } from './figures.ts';
import { dateOf, DAY_MS } from './queries.ts';
import type { DayTotals, GroupTotals } from './queries.ts';
import { MAX_TEXT_CHARS } from './row.ts';
import { sumsBy } from './sums.ts';
import type { GroupSums, TimeSpan } from './sums.ts';

export interface LedgerSummary {
  /** Most requests first. */
  readonly byModel: readonly GroupTotals[];
  /** Oldest first. */
  readonly byDay: readonly DayTotals[];
}

/** Returns the sums of a span. */
export async function summaryOf(db: LedgerReader, span: TimeSpan): Promise<LedgerSummary> {
  return toSummary(await sumsBy(db, ['model'], span, DAY_MS));
}

/** The sums of one of the machines that share a ledger; without a name, of all unnamed ones. */
export interface NodeSummary extends LedgerSummary {
  readonly node: string | null;
}

/** The sums of a ledger; if machines share it, also those of each. */
export interface LedgerSums {
  readonly summary: LedgerSummary;
  readonly nodes?: readonly NodeSummary[];
}

export async function ledgerSums(db: LedgerReader, span: TimeSpan): Promise<LedgerSums> {
  if (!isPostgres(db)) return { summary: await summaryOf(db, span) };
  const nodes = await summariesByNode(db, span);
  return { summary: addSummaries(nodes), nodes };
}

/** Returns the sums of a span for each machine. */
export async function summariesByNode(db: LedgerReader, span: TimeSpan): Promise<NodeSummary[]> {
  return splitByNode(await sumsBy(db, ['node', 'model'], span, DAY_MS));
}

/** Groups by node, which is the first of their keys, and by model. */
export function splitByNode(groups: readonly GroupSums[]): NodeSummary[] {
  const nodes = [...new Set(groups.map(({ keys: [node = null] }) => node))];
  return nodes.map((node) => ({
    node,
    ...toSummary(groups.filter(({ keys: [own = null] }) => own === node)),
  }));
}

/** Groups by model, which is the last of their keys, and by day. */
export function toSummary(groups: readonly GroupSums[]): LedgerSummary {
  const byModel = sumByKey(groups.map((one) => [one.keys.at(-1) ?? null, one.totals]));
  const byDay = sumByKey(groups.map((one) => [dateOf(one.step * DAY_MS), one.totals]));
  return toSortedSummary(
    byModel.map(([key, totals]) => ({ key, ...totals })),
    byDay.map(([date, totals]) => ({ date, ...totals })),
  );
}

/** Combines several into one. */
export function addSummaries(all: readonly LedgerSummary[]): LedgerSummary {
  const byModel = sumByKey(all.flatMap((one) => one.byModel.map((group) => [group.key, group])));
  const byDay = sumByKey(all.flatMap((one) => one.byDay.map((day) => [day.date, day])));
  return toSortedSummary(
    byModel.map(([key, totals]) => ({ key, ...totals })),
    byDay.map(([date, totals]) => ({ date, ...totals })),
  );
}

function toSortedSummary(byModel: GroupTotals[], byDay: DayTotals[]): LedgerSummary {
  return {
    byModel: byModel.toSorted((a, b) => b.requests - a.requests),
    byDay: byDay.toSorted((a, b) => (a.date < b.date ? -1 : 1)),
  };
}

function sumByKey<K>(parts: readonly (readonly [K, Totals])[]): [K, Totals][] {
  const groups = new Map<K, Totals[]>();
  for (const [key, totals] of parts) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [totals]);
    else group.push(totals);
  }
  return [...groups].map(([key, all]) => [key, addTotals(all)]);
}

const NAMES = (Object.keys(emptyTotals()) as (keyof Totals)[]).map(
  (name) => [name, columnName(name)] as const,
);

/** Returns the sums under their names in `/ledger/sums`; a missing one is 0. */
function sumsJson(totals: Totals): Readonly<Record<string, number>> {
  return Object.fromEntries(
    NAMES.flatMap(([name, written]) => (totals[name] === 0 ? [] : [[written, totals[name]]])),
  );
}

/** Returns the body of `/ledger/sums` without its subject. */
export function ledgerSumsJson({ summary, nodes }: LedgerSums) {
  const by_node = nodes?.map(({ node, ...own }) => ({ node, ...summaryJson(own) }));
  return { ...summaryJson(summary), ...(by_node !== undefined && { by_node }) };
}

/**
 * Returns the machines of such a body; none if the ledger belongs to one machine, undefined if it
 * is not such a body.
 */
export function nodesFrom(json: {
  readonly by_node?: unknown;
}): readonly NodeSummary[] | undefined {
  if (json.by_node === undefined) return [];
  return listOf(json.by_node, ({ node, ...sums }) => {
    const isName = node === null || (typeof node === 'string' && node.length <= MAX_TEXT_CHARS);
    const summary = summaryFrom(sums);
    return isName && summary !== undefined ? { node, ...summary } : undefined;
  });
}

/** Returns a summary as it is written there. */
export function summaryJson({ byModel, byDay }: LedgerSummary) {
  return {
    by_model: byModel.map(({ key, ...totals }) => ({ model: key, sums: sumsJson(totals) })),
    by_day: byDay.map(({ date, ...totals }) => ({ date, sums: sumsJson(totals) })),
  };
}

/**
 * Parses such a body from any sender; undefined if it is invalid, or if its models and its days are
 * not the same requests. Sums unknown to this version are left out.
 */
export function summaryFrom(json: {
  readonly by_model?: unknown;
  readonly by_day?: unknown;
}): LedgerSummary | undefined {
  const byModel = listOf(json.by_model, ({ model, sums }) => {
    const isName = model === null || (typeof model === 'string' && model.length <= MAX_TEXT_CHARS);
    const totals = totalsFrom(sums);
    return isName && totals !== undefined ? { key: model, ...totals } : undefined;
  });
  const byDay = listOf(json.by_day, ({ date, sums }) => {
    const isDate = typeof date === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(date);
    const totals = totalsFrom(sums);
    return isDate && totals !== undefined ? { date, ...totals } : undefined;
  });
  if (byModel === undefined || byDay === undefined) return undefined;
  const [ofModels, ofDays] = [addTotals(byModel), addTotals(byDay)];
  const isSame = NAMES.every(([name]) => Math.abs(ofModels[name] - ofDays[name]) < 1);
  return isSame ? toSortedSummary(byModel, byDay) : undefined;
}

function totalsFrom(sums: unknown): Totals | undefined {
  if (typeof sums !== 'object' || sums === null) return undefined;
  const fields = sums as Readonly<Record<string, unknown>>;
  const totals = emptyTotals();
  for (const [name, written] of NAMES) {
    const value = fields[written] ?? 0;
    if (!isSum(name, value)) return undefined;
    totals[name] = value;
  }
  return totals.requests > 0 ? totals : undefined;
}

/** Only money can be below zero: markers cost more than they save until they are read. */
function isSum(name: keyof Totals, value: unknown): value is number {
  const isNumber = name === 'latencySumMs' ? Number.isFinite(value) : Number.isSafeInteger(value);
  return isNumber && ((value as number) >= 0 || name.endsWith('NanoUsd'));
}

function listOf<T>(
  value: unknown,
  read: (one: Readonly<Record<string, unknown>>) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const list = value.map((one: unknown) =>
    typeof one === 'object' && one !== null ? read(one as Record<string, unknown>) : undefined,
  );
  return list.some((one) => one === undefined) ? undefined : (list as T[]);
}
