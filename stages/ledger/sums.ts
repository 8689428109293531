/**
 * The requests that match a filter, and their sums: stored sums for whole hours, which outlive the
 * rows, and the rest from the rows.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { LedgerReader } from './tables.ts';
import { isPostgres } from './dialect.ts';
import type { Totals } from './figures.ts';
import { addTotals, emptyTotals, FAILED_SQL, ROW_SUMS } from './figures.ts';
import { HOUR_KEYS, HOUR_MS } from './hours.ts';
import type { HourKey } from './hours.ts';
import type { LedgerRow } from './row.ts';

/** The keys that requests can be grouped by. */
export type GroupKey = HourKey | 'sessionId';

/** From `sinceMs` (inclusive) to `untilMs` (exclusive), milliseconds since the epoch. */
export interface TimeSpan {
  readonly sinceMs: number;
  readonly untilMs?: number;
}

/** Which requests to select; absent members match everything. */
export interface RowFilter extends TimeSpan {
  /** Part of the model's name, case-insensitive. */
  readonly model?: string;
  readonly provider?: string;
  readonly client?: string;
  readonly sessionId?: string;
  /** The label of the proxy key. */
  readonly keyLabel?: string;
  readonly project?: string;
  /** Words that each occur in the id or a name of the request, case-insensitive: see `SEARCHED`. */
  readonly words?: readonly string[];
  readonly outcome?: LedgerRow['outcome'];
  /** Only failed ones, as `isFailure` defines it. */
  readonly failed?: boolean;
  /** The beginning of an id, or its end. */
  readonly id?: string;
}

export const FAILED = sql<boolean>`(${sql.raw(FAILED_SQL)})`;

/** `Totals` of rows in SQL. */
export const ROW_TOTALS = ROW_SUMS.map(([name, added]) =>
  sql<number>`coalesce(sum(${sql.raw(added)}), 0)`.as(name),
);
const HOUR_TOTALS = (Object.keys(emptyTotals()) as (keyof Totals)[]).map((name) =>
  sql<number>`coalesce(sum(${sql.ref(name)}), 0)`.as(name),
);

/** The sums of the requests that share all keys and the time step. */
export interface GroupSums {
  /** In the requested order. */
  readonly keys: readonly (string | null)[];
  /** Number of steps since the epoch; 0 if no steps were requested. */
  readonly step: number;
  readonly totals: Totals;
}

/**
 * Returns the sums for each combination of `keys` and, if `stepMs` is given, for each time step
 * since the epoch. They cover all time, except where only rows can tell: sessions, steps and span
 * ends within an hour, filters by more than provider, client, key and project.
 */
export async function sumsBy(
  db: LedgerReader,
  keys: readonly GroupKey[],
  filter: RowFilter,
  stepMs?: number,
): Promise<GroupSums[]> {
  const hourKeys = keys.filter(isHourKey);
  const isOfHours = hourKeys.length === keys.length && (stepMs ?? HOUR_MS) % HOUR_MS === 0;
  const { hours, rest } = isOfHours ? inHours(filter) : { hours: undefined, rest: [filter] };
  const parts = await Promise.all([
    ...rest.map((part) => sumsOfRows(db, keys, part, stepMs)),
    ...(hours === undefined ? [] : [sumsOfHours(db, hourKeys, hours, stepMs)]),
  ]);
  const groups = new Map<string, Pick<GroupSums, 'keys' | 'step'> & { parts: Totals[] }>();
  for (const { keys: names, step, totals } of parts.flat()) {
    const id = JSON.stringify([names, step]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { keys: names, step, parts: [totals] });
    else group.parts.push(totals);
  }
  return [...groups.values()].map((group) => ({ ...group, totals: addTotals(group.parts) }));
}

/** Returns the sums of the rows that match `filter`. */
export async function sumsOfRows(
  db: LedgerReader,
  keys: readonly GroupKey[],
  filter: RowFilter,
  stepMs?: number,
): Promise<readonly GroupSums[]> {
  const { step, names } = groupedBy(keys, stepMs);
  const rows = await selectMatching(db, filter)
    .select((eb) => [...keys.map((key) => eb.ref(key).as(key)), step.as('step'), ...ROW_TOTALS])
    .$if(names.length > 0, (query) => query.groupBy(names))
    .$call((query) => inOrder(query, db, names))
    .execute();
  return toGroups(rows, keys);
}

/** Returns the stored sums of the hours in a filter that they can answer: see `inHours`. */
export async function sumsOfHours(
  db: LedgerReader,
  keys: readonly HourKey[],
  filter: RowFilter,
  stepMs?: number,
): Promise<readonly GroupSums[]> {
  const { step, names } = groupedBy(keys, stepMs);
  const rows = await ofHours(db, filter)
    .select((eb) => [...keys.map((key) => eb.ref(key).as(key)), step.as('step'), ...HOUR_TOTALS])
    .$if(names.length > 0, (query) => query.groupBy(names))
    .$call((query) => inOrder(query, db, names))
    .execute();
  return toGroups(rows, keys);
}

function groupedBy<K extends GroupKey>(keys: readonly K[], stepMs: number | undefined) {
  const step = stepMs === undefined ? sql<number>`0` : stepOf(stepMs);
  return { step, names: [...keys, ...(stepMs === undefined ? [] : [step])] };
}

function toGroups(
  rows: readonly (Totals & { readonly step: number } & {
    readonly [K in GroupKey]?: string | null;
  })[],
  keys: readonly GroupKey[],
): readonly GroupSums[] {
  return rows.map((row) => ({
    keys: keys.map((key) => row[key] ?? null),
    step: row.step,
    totals: row,
  }));
}

/** Sorts groups as a file returns them, so that ties have a fixed order. */
function inOrder<Q extends { orderBy(by: RawBuilder<unknown>): Q }>(
  query: Q,
  db: LedgerReader,
  names: readonly (GroupKey | RawBuilder<number>)[],
): Q {
  if (!isPostgres(db)) return query;
  return names.reduce((ordered, name) => {
    const column = typeof name === 'string' ? sql.ref(name) : name;
    return ordered.orderBy(sql`${column} NULLS FIRST`);
  }, query);
}

/** Returns SQL for the time step since the epoch in which a request began. */
export function stepOf(stepMs: number) {
  return sql<number>`started_ms / ${sql.lit(stepMs)}`;
}

/** Returns the beginning of the first whole hour of `filter` that had requests. */
export async function firstHourMs(
  db: LedgerReader,
  filter: RowFilter,
): Promise<number | undefined> {
  const { hours } = inHours(filter);
  if (hours === undefined) return undefined;
  const query = ofHours(db, hours).select('startedMs').orderBy('startedMs').limit(1);
  return (await query.executeTakeFirst())?.startedMs;
}

function ofHours(db: LedgerReader, filter: RowFilter) {
  const { sinceMs, untilMs } = filter;
  let query = db.selectFrom('hours').where('startedMs', '>=', sinceMs);
  if (untilMs !== undefined) query = query.where('startedMs', '<', untilMs);
  for (const key of ['provider', 'client', 'keyLabel', 'project'] as const) {
    const value = filter[key];
    if (value !== undefined) query = query.where(key, '=', value);
  }
  return query;
}

/** Splits a filter into whole hours, if their stored sums can answer it, and the rest. */
export function inHours(filter: RowFilter): { hours?: RowFilter; rest: RowFilter[] } {
  const { sinceMs, untilMs, model, sessionId, outcome, failed, id, words } = filter;
  const firstMs = Math.ceil(sinceMs / HOUR_MS) * HOUR_MS;
  const endMs = Math.floor((untilMs ?? Infinity) / HOUR_MS) * HOUR_MS;
  const isOfRows = [model, sessionId, outcome, id, words].some((one) => one !== undefined);
  if (isOfRows || failed === true || endMs <= firstMs) return { rest: [filter] };
  const hours = { ...filter, sinceMs: firstMs };
  const rest = [{ ...filter, untilMs: firstMs }];
  if (untilMs === undefined) return { hours, rest: rest.filter(isSpan) };
  rest.push({ ...filter, sinceMs: endMs, untilMs });
  return { hours: { ...hours, untilMs: endMs }, rest: rest.filter(isSpan) };
}

function isSpan({ sinceMs, untilMs }: Required<TimeSpan>): boolean {
  return untilMs > sinceMs;
}

function isHourKey(key: GroupKey): key is HourKey {
  return (HOUR_KEYS as readonly GroupKey[]).includes(key);
}

/** Selects the requests that began in a span. */
export function inSpan(db: LedgerReader, { sinceMs, untilMs }: TimeSpan) {
  const query = db.selectFrom('requests').where('startedMs', '>=', sinceMs);
  return untilMs === undefined ? query : query.where('startedMs', '<', untilMs);
}

/** The columns that words are searched in. */
const SEARCHED = [
  'id',
  'model',
  'model_requested',
  'provider',
  'client',
  'key_label',
  'project',
  'session_id',
  'skill',
  'node',
  'error_kind',
  'error_code',
  'endpoint',
  'outcome',
];
/** One line each, so that no word is found across two of them. */
const SEARCHED_SQL = `lower(${SEARCHED.map((column) => `coalesce(${column}, '')`).join(` || ' \n' || `)})`;

/** Selects the requests that match `filter`. */
export function selectMatching(db: LedgerReader, filter: RowFilter) {
  let query = inSpan(db, filter);
  const { model, id, words = [] } = filter;
  const place = sql.raw(isPostgres(db) ? 'strpos' : 'instr');
  for (const word of words)
    query = query.where(
      sql<boolean>`${place}(${sql.raw(SEARCHED_SQL)}, ${word.toLowerCase()}) > 0`,
    );
  if (model !== undefined) {
    query = query.where(
      sql<boolean>`${place}(lower(coalesce(model, model_requested, '')), ${model.toLowerCase()}) > 0`,
    );
  }
  if (id !== undefined) {
    const { length } = id;
    query = query.where(
      sql<boolean>`${id} in (substr(id, 1, ${length}), substr(id, length(id) - ${length} + 1))`,
    );
  }
  for (const key of [
    'provider',
    'client',
    'keyLabel',
    'project',
    'sessionId',
    'outcome',
  ] as const) {
    const value = filter[key];
    if (value !== undefined) query = query.where(key, '=', value);
  }
  return filter.failed === true ? query.where(FAILED) : query;
}
