/**
 * Reads facts about a span in units, from the memory where it has them. One object per report and
 * filter.
 */
import { inHours, sumsOfHours, sumsOfRows } from '../sums.ts';
import type { GroupSums, RowFilter, TimeSpan } from '../sums.ts';
import { HOUR_MS } from '../hours.ts';
import type { HourKey } from '../hours.ts';
import type { LedgerReader } from '../tables.ts';
import type { LedgerSpans, RangeMemory } from './range-memory.ts';
import type { Facts, UnitValue } from './unit-memory.ts';
import { DAY_MS, divide, lengthsWithin, MINUTE_MS } from './units.ts';
import type { Length, Piece } from './units.ts';

/** A value, and the beginning of the unit that it is of. */
export type OfUnit<T> = readonly [startMs: number, value: T];

/**
 * Reads the values of the units of `lengthMs` in a part of the filter, by their beginnings; a unit
 * without requests is left out.
 */
export type ReadPart<T> = (
  part: RowFilter,
  lengthMs: number,
) => Promise<ReadonlyMap<number, UnitValue<T>>>;

/** Long units of rows are used when requests of them have hardly a chance to be still running. */
const SETTLING_MS = 30 * MINUTE_MS;
/** Approximate size of the sums of a group. */
const BYTES_OF_GROUP = 500;

/** Begins a report on the requests that match `filter`. */
export async function openRange(
  db: LedgerReader,
  filter: RowFilter,
  memory: RangeMemory,
): Promise<RangeFacts> {
  return new RangeFacts(db, filter, memory, await memory.begin(db));
}

export class RangeFacts {
  readonly db: LedgerReader;
  readonly filter: RowFilter;
  readonly #memory: RangeMemory;
  readonly #spans: LedgerSpans;
  /** The filter without its span: units are of one filter. */
  readonly #name: string;

  constructor(db: LedgerReader, filter: RowFilter, memory: RangeMemory, spans: LedgerSpans) {
    this.db = db;
    this.filter = filter;
    this.#memory = memory;
    this.#spans = spans;
    const { sinceMs: _since, untilMs: _until, ...more } = filter;
    this.#name = JSON.stringify(Object.entries(more).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Reads facts from rows, in units that never cross a step of `stepMs`; oldest first. */
  async ofRows<T>(
    name: string,
    stepMs: number,
    read: ReadPart<T>,
    span: TimeSpan = this.filter,
  ): Promise<readonly OfUnit<T>[]> {
    const { rows } = this.#spans;
    if (rows === undefined) return [];
    const lengths = lengthsWithin(stepMs, rows.toMs - SETTLING_MS);
    return this.#read({ name, isOfRows: true }, within(span, rows), lengths, read);
  }

  /** Returns the sums by `key`, or all of them, of rows; in units as `ofRows` has them. */
  async sumsOfRows(
    key: HourKey | undefined,
    stepMs: number,
    span: TimeSpan = this.filter,
  ): Promise<readonly OfUnit<readonly GroupSums[]>[]> {
    const keys = key === undefined ? [] : [key];
    const read: ReadPart<readonly GroupSums[]> = async (part, lengthMs) =>
      byUnit(await sumsOfRows(this.db, keys, part, lengthMs), lengthMs);
    return this.ofRows(`sums ${key ?? ''}`, stepMs, read, span);
  }

  /**
   * Returns the sums by `key` as `sumsBy` does: stored sums for whole hours, and the rest from rows;
   * in units that never cross a step of `stepMs`, which is whole hours.
   */
  async sums(key: HourKey, stepMs: number): Promise<readonly OfUnit<readonly GroupSums[]>[]> {
    const { hours, rest } = inHours(this.filter);
    const read: ReadPart<readonly GroupSums[]> = async (part, lengthMs) =>
      byUnit(await sumsOfHours(this.db, [key], part, lengthMs), lengthMs);
    const parts = await Promise.all([
      ...rest.map((span) => this.sumsOfRows(key, stepMs, span)),
      ...(hours === undefined || this.#spans.hours === undefined
        ? []
        : [
            this.#read(
              { name: `hours ${key}`, isOfRows: false },
              within(hours, this.#spans.hours),
              lengthsOfHours(stepMs, this.#spans.hours.toMs),
              read,
            ),
          ]),
    ]);
    return parts.flat();
  }

  async #read<T>(
    { name, isOfRows }: Facts,
    span: Piece,
    lengths: readonly Length[],
    read: ReadPart<T>,
  ): Promise<readonly OfUnit<T>[]> {
    const { units, ends } = divide(span, lengths);
    const facts = { name: `${name} ${this.#name}`, isOfRows };
    const partOf = ({ fromMs, toMs }: Piece): RowFilter => ({
      ...this.filter,
      sinceMs: fromMs,
      untilMs: toMs,
    });
    const shortestMs = lengths.at(-1)?.lengthMs ?? MINUTE_MS;
    const found = await Promise.all([
      ...units.map((some) =>
        this.#memory.units.read(facts, some, (run) => read(partOf(run), run.lengthMs)),
      ),
      ...ends.map(async (end) =>
        [...(await read(partOf(end), shortestMs))].map(([at, { value }]) => [at, value] as const),
      ),
    ]);
    return found.flat().toSorted(([a], [b]) => a - b);
  }
}

/**
 * Returns the part of a span in which there is something. Where that begins or ends, the part is
 * extended to a whole minute, so that nothing is read again for its rest.
 */
function within({ sinceMs, untilMs = Infinity }: TimeSpan, { fromMs, toMs }: Piece): Piece {
  return {
    fromMs: Math.max(sinceMs, Math.floor(fromMs / MINUTE_MS) * MINUTE_MS),
    toMs: Math.min(untilMs, Math.ceil(toMs / MINUTE_MS) * MINUTE_MS),
  };
}

/** Stored sums need no smaller unit than the hour. A day that changes is read again as a whole. */
function lengthsOfHours(stepMs: number, toMs: number): readonly Length[] {
  const hours = { lengthMs: HOUR_MS, endMs: Infinity };
  if (stepMs % DAY_MS !== 0) return [hours];
  return [{ lengthMs: DAY_MS, endMs: toMs - HOUR_MS - SETTLING_MS }, hours];
}

function byUnit(
  sums: readonly GroupSums[],
  lengthMs: number,
): ReadonlyMap<number, UnitValue<readonly GroupSums[]>> {
  const groups = groupBy(sums, ({ step }) => step * lengthMs);
  return new Map(
    [...groups].map(([startMs, value]) => [
      startMs,
      { value, sizeBytes: value.length * BYTES_OF_GROUP },
    ]),
  );
}

/** Returns the values with each key. */
export function groupBy<K, T>(values: readonly T[], keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
