/**
 * The sums of several ledgers, some of which may be copies of one another, taken at different
 * times: each request is counted once, for the first ledger that has it. While its row is kept, a
 * request is identified by its id. Of older ones only the sums of their hour are left: hours of two
 * ledgers with equal sums, including the total of all latencies, are the same requests.
 */
import { sql } from 'kysely';
import type { LedgerReader } from './tables.ts';
import { addToTotals, emptyTotals, subtractTotals } from './figures.ts';
import type { RunningTotals, Totals } from './figures.ts';
import { HOUR_MS } from './hours.ts';
import { DAY_MS } from './queries.ts';
import type { LedgerRow } from './row.ts';
import { inSpan, stepOf, sumsBy } from './sums.ts';
import type { GroupSums, TimeSpan } from './sums.ts';
import { fromStored } from './tables.ts';

/** The sums of one of the ledgers. */
export interface OwnSums {
  /** By node, model and UTC day. */
  readonly groups: readonly GroupSums[];
  /** Requests that an earlier ledger also has, which are not included. */
  readonly repeated: number;
}

interface Hour {
  readonly totals: Totals;
  /** True if all its requests still have their rows. */
  readonly isWhole: boolean;
}

type Hours = ReadonlyMap<number, Hour>;

const KEYS = ['node', 'model'] as const;
const PAGE = 20_000;
const MAX_IDS = 500;

/** Returns the sums of a span of each ledger, in the given order. */
export async function sumsOfEach(
  ledgers: readonly LedgerReader[],
  span: TimeSpan,
): Promise<readonly OwnSums[]> {
  const earlier: Hours[] = [];
  const seen = new Set<string>();
  const all: OwnSums[] = [];
  for (const db of ledgers) {
    const hours = await hoursOf(db, span);
    const { repeated, parts } = repeatedHours(hours, earlier);
    const groups = new Groups(await sumsBy(db, KEYS, span, DAY_MS));
    for (const run of runsOf(repeated, hours, span))
      groups.subtract(await sumsBy(db, KEYS, run, DAY_MS));
    for (const [hour, other] of parts)
      groups.subtract(await sumsBy(ledgers[other]!, KEYS, hourSpan(hour, span), DAY_MS));
    const known = (hour: number) => earlier.some((one) => one.has(hour)) && !repeated.has(hour);
    for await (const rows of rowsSeen(db, span, seen, known)) groups.subtractRows(rows);
    all.push(groups.end());
    earlier.push(hours);
  }
  return all;
}

/** Returns the sums of each hour, by its number since the epoch. */
async function hoursOf(db: LedgerReader, span: TimeSpan): Promise<Hours> {
  const hour = stepOf(HOUR_MS);
  const [sums, counts] = await Promise.all([
    sumsBy(db, [], span, HOUR_MS),
    inSpan(db, span)
      .select((eb) => [hour.as('hour'), eb.fn.countAll<number>().as('rows')])
      .groupBy(hour)
      .execute(),
  ]);
  const rows = new Map(counts.map((one) => [one.hour, one.rows]));
  return new Map(
    sums
      .toSorted((a, b) => a.step - b.step)
      .map(({ step, totals }) => [step, { totals, isWhole: rows.get(step) === totals.requests }]),
  );
}

/**
 * Finds the hours that an earlier ledger also has, where ids cannot tell, and the hours of earlier
 * ledgers that are part of ours: a copy taken within an hour has only its beginning.
 */
function repeatedHours(hours: Hours, earlier: readonly Hours[]) {
  const repeated = new Set<number>();
  const parts = new Map<number, number>();
  const last = lastOf(hours);
  const sizeOf = (hour: number, db: number) => earlier[db]?.get(hour)?.totals.requests ?? 0;
  const larger = (hour: number, db: number) => {
    const other = parts.get(hour) ?? db;
    return sizeOf(hour, other) > sizeOf(hour, db) ? other : db;
  };
  for (const [db, others] of earlier.entries()) {
    const shared = [...hours.keys()].filter((hour) => {
      const other = others.get(hour);
      return other !== undefined && !(other.isWhole && hours.get(hour)!.isWhole);
    });
    const equal = shared.filter((hour) =>
      isEqual(hours.get(hour)!.totals, others.get(hour)!.totals),
    );
    for (const hour of equal) repeated.add(hour);
    if (equal.length === 0) continue;
    for (const hour of shared) {
      if (repeated.has(hour)) continue;
      const [ours, theirs] = [hours.get(hour)!.totals, others.get(hour)!.totals];
      if (hour === last && isPart(ours, theirs)) repeated.add(hour);
      else if (hour === lastOf(others) && isPart(theirs, ours)) parts.set(hour, larger(hour, db));
    }
  }
  // If ids can tell as well, these requests must not be subtracted twice.
  for (const hour of parts.keys()) {
    const isKnown = earlier.some((one) => one.get(hour)?.isWhole === true);
    if (repeated.has(hour) || (isKnown && hours.get(hour)!.isWhole)) parts.delete(hour);
  }
  return { repeated, parts };
}

function lastOf(hours: Hours): number | undefined {
  return [...hours.keys()].at(-1);
}

/** Without a latency, sums of different machines are too similar. */
function isEqual(one: Totals, other: Totals): boolean {
  return one.timed > 0 && namesOf(one).every((name) => Math.abs(one[name] - other[name]) < 1e-6);
}

function isPart(part: Totals, whole: Totals): boolean {
  return namesOf(part).every((name) => part[name] <= whole[name] || name.endsWith('NanoUsd'));
}

function namesOf(totals: Totals): (keyof Totals)[] {
  return Object.keys(totals) as (keyof Totals)[];
}

/** Returns consecutive hours as one span each. */
function runsOf(repeated: ReadonlySet<number>, hours: Hours, span: TimeSpan): TimeSpan[] {
  const runs: { first: number; last: number }[] = [];
  let isOpen = false;
  for (const hour of hours.keys()) {
    const run = runs.at(-1);
    if (!repeated.has(hour)) isOpen = false;
    else if (isOpen && run !== undefined) run.last = hour;
    else {
      runs.push({ first: hour, last: hour });
      isOpen = true;
    }
  }
  return runs.map(({ first, last }) => ({
    sinceMs: hourSpan(first, span).sinceMs,
    untilMs: hourSpan(last, span).untilMs,
  }));
}

function hourSpan(hour: number, { sinceMs, untilMs = Infinity }: TimeSpan): Required<TimeSpan> {
  return {
    sinceMs: Math.max(hour * HOUR_MS, sinceMs),
    untilMs: Math.min((hour + 1) * HOUR_MS, untilMs),
  };
}

/**
 * Yields the rows in hours for which `isKnown` is true whose ids were seen before, in batches;
 * afterwards all ids count as seen.
 */
async function* rowsSeen(
  db: LedgerReader,
  span: TimeSpan,
  seen: Set<string>,
  isKnown: (hour: number) => boolean,
): AsyncGenerator<readonly LedgerRow[]> {
  const own: string[] = [];
  for (let after = 0; ;) {
    const page = await inSpan(db, span)
      .select(['id', 'startedMs', sql<number>`rowid`.as('number')])
      .where(sql<boolean>`rowid > ${after}`)
      .orderBy(sql`rowid`)
      .limit(PAGE)
      .execute();
    for (const { id } of page) own.push(id);
    const twice = page.filter(
      ({ id, startedMs }) => isKnown(Math.floor(startedMs / HOUR_MS)) && seen.has(id),
    );
    for (let at = 0; at < twice.length; at += MAX_IDS) {
      const ids = twice.slice(at, at + MAX_IDS).map(({ id }) => id);
      const rows = await db.selectFrom('requests').selectAll().where('id', 'in', ids).execute();
      yield rows.map(fromStored);
    }
    if (page.length < PAGE) break;
    after = page.at(-1)!.number;
  }
  for (const id of own) seen.add(id);
}

/** Sums from which requests can be subtracted. */
class Groups {
  readonly #groups = new Map<string, Omit<GroupSums, 'totals'> & { totals: RunningTotals }>();
  #repeated = 0;

  constructor(groups: readonly GroupSums[]) {
    for (const { keys, step, totals } of groups)
      this.#groups.set(idOf(keys, step), { keys, step, totals: { ...totals } });
  }

  subtract(parts: readonly GroupSums[]): void {
    for (const { keys, step, totals } of parts) {
      const group = this.#groups.get(idOf(keys, step));
      if (group === undefined) continue;
      subtractTotals(group.totals, totals);
      this.#repeated += totals.requests;
    }
  }

  subtractRows(rows: readonly LedgerRow[]): void {
    for (const row of rows) {
      const totals = emptyTotals();
      addToTotals(totals, row);
      const step = Math.floor(row.startedMs / DAY_MS);
      this.subtract([{ keys: KEYS.map((key) => row[key]), step, totals }]);
    }
  }

  end(): OwnSums {
    const groups = [...this.#groups.values()].filter(({ totals }) => totals.requests > 0);
    return { groups, repeated: this.#repeated };
  }
}

function idOf(keys: readonly (string | null)[], step: number): string {
  return JSON.stringify([keys, step]);
}
