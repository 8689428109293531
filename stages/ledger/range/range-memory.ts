/**
 * What reports of one ledger have read before, and what has changed in the ledger since: rows are
 * only ever added, with ascending numbers, and deleted oldest first.
 */
import { sql } from 'kysely';
import { isPostgres } from '../dialect.ts';
import { HOUR_MS } from '../hours.ts';
import type { LedgerReader } from '../tables.ts';
import { UnitMemory } from './unit-memory.ts';
import { MINUTE_MS } from './units.ts';
import type { Piece } from './units.ts';

/** The spans in which the ledger has something; undefined if it has nothing. */
export interface LedgerSpans {
  readonly rows: Piece | undefined;
  readonly hours: Piece | undefined;
}

interface Seen {
  /** Number and id of the newest row. */
  readonly number: number;
  readonly id: string | null;
  readonly oldestMs: number | null;
}

interface State {
  readonly newest: number;
  /** Number of the row that was stored last, even if it was deleted since. */
  readonly stored: number;
  readonly newestId: string | null;
  readonly seenId: string | null;
  readonly oldestMs: number | null;
  readonly latestMs: number | null;
  readonly firstHourMs: number | null;
  readonly lastHourMs: number | null;
}

/** Pass the same one to all reports of a ledger. */
export class RangeMemory {
  readonly units = new UnitMemory();
  #seen: Seen | undefined;

  /** Begins a report: forgets what no longer matches the ledger. */
  async begin(db: LedgerReader): Promise<LedgerSpans> {
    this.units.begin();
    const seen = this.#seen;
    const state = await readState(db, seen?.number ?? 0);
    if (seen !== undefined) {
      // Another row has its number: it is another file, or the rows were renumbered.
      if (seen.number > 0 && state.seenId !== seen.id) this.units.forgetAll();
      else if (state.stored > seen.number) await this.#forgetNew(db, seen.number, state);
      if (state.oldestMs !== null && state.oldestMs !== seen.oldestMs)
        this.units.forgetRowsUpto(state.oldestMs);
      if (state.oldestMs === null) this.units.forgetAll();
    }
    // A report that began later may be further.
    if (this.#seen === seen)
      this.#seen = { number: state.newest, id: state.newestId, oldestMs: state.oldestMs };
    return toSpans(state);
  }

  async #forgetNew(db: LedgerReader, after: number, { newest, stored }: State): Promise<void> {
    const minutes = await minutesOf(db, after, newest);
    const present = minutes.reduce((sum, { requests }) => sum + requests, 0);
    // Rows that were deleted again are still part of the sums of their hours.
    if (present < stored - after) this.units.forgetAll();
    else this.units.forgetMinutes(minutes.map(({ minute }) => minute));
  }
}

async function readState(db: LedgerReader, seen: number): Promise<State> {
  const newest = sql`(SELECT coalesce(max(rowid), 0) FROM requests)`;
  const { rows } = await sql<State>`SELECT
    ${newest} AS newest,
    ${isPostgres(db) ? newest : sql`(SELECT rowid_upto FROM summed)`} AS stored,
    (SELECT id FROM requests WHERE rowid = (SELECT max(rowid) FROM requests)) AS newest_id,
    (SELECT id FROM requests WHERE rowid = ${seen}) AS seen_id,
    (SELECT min(started_ms) FROM requests) AS oldest_ms,
    (SELECT max(started_ms) FROM requests) AS latest_ms,
    (SELECT min(started_ms) FROM hours) AS first_hour_ms,
    (SELECT max(started_ms) FROM hours) AS last_hour_ms`.execute(db);
  return rows[0]!;
}

/** Returns the minutes since the epoch in which rows with numbers after `after` began, and how many. */
async function minutesOf(
  db: LedgerReader,
  after: number,
  upto: number,
): Promise<readonly { readonly minute: number; readonly requests: number }[]> {
  const { rows } = await sql<{ readonly minute: number; readonly requests: number }>`SELECT
    started_ms / ${sql.lit(MINUTE_MS)} AS minute, count(*) AS requests FROM requests
    WHERE rowid > ${after} AND rowid <= ${upto} GROUP BY 1`.execute(db);
  return rows;
}

function toSpans({ oldestMs, latestMs, firstHourMs, lastHourMs }: State): LedgerSpans {
  return {
    rows:
      oldestMs === null || latestMs === null ? undefined : { fromMs: oldestMs, toMs: latestMs + 1 },
    hours:
      firstHourMs === null || lastHourMs === null
        ? undefined
        : { fromMs: firstHourMs, toMs: lastHourMs + HOUR_MS },
  };
}
