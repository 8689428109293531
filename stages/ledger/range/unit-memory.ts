/**
 * What reports have read about units of time, kept for the next report: a page that polls asks for
 * nearly the same span again and again, and a past hour hardly changes. Bounded by size and by use.
 */
import { MINUTE_MS } from './units.ts';
import type { Units } from './units.ts';

/** The value of one unit, and its approximate size in bytes. */
export interface UnitValue<T> {
  readonly value: T;
  readonly sizeBytes: number;
}

/** Returns sums by the beginnings of their units; `step` is the number of a unit. */
export function sumsByUnit<T extends { readonly step: number }>(
  rows: readonly T[],
  lengthMs: number,
  sizeBytes: number,
): ReadonlyMap<number, UnitValue<Omit<T, 'step'>>> {
  return new Map(
    rows.map(({ step, ...value }) => [step * lengthMs, { value, sizeBytes }] as const),
  );
}

/** Reads the values of consecutive units, by their beginnings; those without one are left out. */
export type ReadUnits<T> = (units: Units) => Promise<ReadonlyMap<number, UnitValue<T>>>;

interface Kept {
  readonly value: unknown;
  readonly sizeBytes: number;
  /** Number of the last report that used it. */
  usedIn: number;
}

/** The units of one kind of facts, one filter and one length, by their beginnings. */
interface Shelf {
  readonly lengthMs: number;
  readonly isOfRows: boolean;
  readonly units: Map<number, Kept>;
}

const MAX_BYTES = 64 * 2 ** 20;
/** For an empty unit, and what a map needs for each. */
const ENTRY_BYTES = 100;
/** Units that this many reports have not used are removed. */
const MAX_UNUSED_REPORTS = 200;
const SWEEP_EVERY = 50;

/** Which facts, and whether they are read from rows: these do not outlive their rows. */
export interface Facts {
  readonly name: string;
  readonly isOfRows: boolean;
}

export class UnitMemory {
  readonly #shelves = new Map<string, Shelf>();
  #bytes = 0;
  #report = 0;
  /** Counts changes of the ledger: what was read before one may lack its rows. */
  #epoch = 0;

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Begins a report. */
  begin(): void {
    this.#report += 1;
    if (this.#report % SWEEP_EVERY === 0) this.#removeUnused(this.#report - MAX_UNUSED_REPORTS);
  }

  /** Returns the values of the units that have one, oldest first, and reads those that are missing. */
  async read<T>(
    facts: Facts,
    units: Units,
    readUnits: ReadUnits<T>,
  ): Promise<readonly (readonly [startMs: number, value: T])[]> {
    const { units: kept } = this.#shelfOf(facts, units.lengthMs);
    const values = new Map<number, unknown>();
    for (let at = units.fromMs; at < units.toMs; at += units.lengthMs) {
      const unit = kept.get(at);
      if (unit === undefined) continue;
      unit.usedIn = this.#report;
      values.set(at, unit.value);
    }
    const runs = missingRuns(values, units);
    const epoch = this.#epoch;
    const read = await Promise.all(runs.map(readUnits));
    for (const [index, run] of runs.entries()) {
      for (const [at, { value }] of read[index]!) values.set(at, value);
      if (epoch === this.#epoch) this.#keep(facts, run, read[index]!);
    }
    return [...values]
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => a - b)
      .map(
        // A shelf has only what the reader of its own facts returned.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
        ([at, value]) => [at, value as T] as const,
      );
  }

  /** Forgets the units in which requests of these minutes began. */
  forgetMinutes(minutes: readonly number[]): void {
    if (minutes.length > 0) this.#epoch += 1;
    for (const shelf of this.#shelves.values()) {
      const { lengthMs } = shelf;
      for (const minute of minutes) {
        const endMs = (minute + 1) * MINUTE_MS;
        for (
          let at = Math.floor((minute * MINUTE_MS) / lengthMs) * lengthMs;
          at < endMs;
          at += lengthMs
        )
          this.#remove(shelf, at);
      }
    }
  }

  /** Forgets what was read from rows that began at `atMs` or before: they are being deleted. */
  forgetRowsUpto(atMs: number): void {
    this.#epoch += 1;
    for (const shelf of this.#shelves.values()) {
      if (!shelf.isOfRows) continue;
      for (const startMs of shelf.units.keys()) if (startMs <= atMs) this.#remove(shelf, startMs);
    }
  }

  forgetAll(): void {
    this.#epoch += 1;
    this.#shelves.clear();
    this.#bytes = 0;
  }

  #shelfOf({ name, isOfRows }: Facts, lengthMs: number): Shelf {
    const id = `${lengthMs} ${name}`;
    let shelf = this.#shelves.get(id);
    if (shelf === undefined) {
      shelf = { lengthMs, isOfRows, units: new Map() };
      this.#shelves.set(id, shelf);
    }
    return shelf;
  }

  #keep(facts: Facts, run: Units, read: ReadonlyMap<number, UnitValue<unknown>>): void {
    const shelf = this.#shelfOf(facts, run.lengthMs);
    for (let at = run.fromMs; at < run.toMs; at += run.lengthMs) {
      this.#remove(shelf, at);
      const { value, sizeBytes = 0 } = read.get(at) ?? {};
      shelf.units.set(at, { value, sizeBytes: sizeBytes + ENTRY_BYTES, usedIn: this.#report });
      this.#bytes += sizeBytes + ENTRY_BYTES;
    }
    // Whatever this report does not use goes first, and then everything: the next one reads it again.
    if (this.#bytes > MAX_BYTES) this.#removeUnused(this.#report);
    if (this.#bytes > MAX_BYTES) this.forgetAll();
  }

  #remove(shelf: Shelf, startMs: number): void {
    const kept = shelf.units.get(startMs);
    if (kept === undefined) return;
    shelf.units.delete(startMs);
    this.#bytes -= kept.sizeBytes;
  }

  #removeUnused(sinceReport: number): void {
    for (const [id, shelf] of this.#shelves) {
      for (const [startMs, { usedIn }] of shelf.units)
        if (usedIn < sinceReport) this.#remove(shelf, startMs);
      if (shelf.units.size === 0) this.#shelves.delete(id);
    }
  }
}

/** Returns the units that are not among `known`, consecutive ones together. */
function missingRuns(
  known: ReadonlyMap<number, unknown>,
  { fromMs, toMs, lengthMs }: Units,
): readonly Units[] {
  const runs: { fromMs: number; toMs: number; lengthMs: number }[] = [];
  for (let at = fromMs; at < toMs; at += lengthMs) {
    if (known.has(at)) continue;
    const last = runs.at(-1);
    if (last?.toMs === at) last.toMs = at + lengthMs;
    else runs.push({ fromMs: at, toMs: at + lengthMs, lengthMs });
  }
  return runs;
}
