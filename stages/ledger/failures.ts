/** The failed requests of a report by cause, from the rows that are still kept. */
import { sql } from 'kysely';
import { groupBy } from './range/range-facts.ts';
import type { RangeFacts } from './range/range-facts.ts';
import type { UnitValue } from './range/unit-memory.ts';
import type { LedgerRow } from './row.ts';
import { FAILED, selectMatching, stepOf } from './sums.ts';
import type { RowFilter } from './sums.ts';
import { DAY_MS } from './range/units.ts';
import type { LedgerReader } from './tables.ts';

/** Failed requests with the same cause. */
export interface FailureGroup extends Pick<
  LedgerRow,
  'status' | 'errorKind' | 'errorCode' | 'provider'
> {
  readonly requests: number;
  /** The agent of all of them; null if they had several or none. */
  readonly client: string | null;
  /** How many different agents they had. */
  readonly clients: number;
  /** When the newest of them began. */
  readonly lastMs: number;
  readonly lastId: string;
}

/** The same of one unit of time and one agent. */
type UnitGroup = Omit<FailureGroup, 'clients'>;

/** Maximum number of causes in a report: those of most requests. */
const MAX_GROUPS = 50;
const BYTES_OF_GROUP = 200;

/** Returns the causes of the matching failed requests, those of most requests first. */
export async function failureGroups(range: RangeFacts): Promise<readonly FailureGroup[]> {
  const units = await range.ofRows('failures', DAY_MS, (part, lengthMs) =>
    failuresByUnit(range.db, part, lengthMs),
  );
  const groups = groupBy(
    units.flatMap(([, unit]) => unit),
    ({ status, errorKind, errorCode, provider }) =>
      JSON.stringify([status, errorKind, errorCode, provider]),
  );
  return [...groups.values()]
    .map(toFailureGroup)
    .toSorted((a, b) => b.requests - a.requests || newestFirst(a, b))
    .slice(0, MAX_GROUPS);
}

function toFailureGroup(parts: readonly UnitGroup[]): FailureGroup {
  const newest = parts.reduce((a, b) => (newestFirst(a, b) <= 0 ? a : b));
  const clients = new Set(parts.flatMap(({ client }) => client ?? []));
  const [client = null] = clients;
  return {
    ...newest,
    requests: parts.reduce((sum, { requests }) => sum + requests, 0),
    client: clients.size === 1 ? client : null,
    clients: clients.size,
  };
}

function newestFirst(a: UnitGroup, b: UnitGroup): number {
  if (a.lastMs !== b.lastMs) return b.lastMs - a.lastMs;
  if (a.lastId === b.lastId) return 0;
  return a.lastId < b.lastId ? 1 : -1;
}

async function failuresByUnit(
  db: LedgerReader,
  filter: RowFilter,
  lengthMs: number,
): Promise<ReadonlyMap<number, UnitValue<readonly UnitGroup[]>>> {
  const keys = ['status', 'errorKind', 'errorCode', 'provider'] as const;
  const step = stepOf(lengthMs);
  const rows = await selectMatching(db, filter)
    .where(FAILED)
    .select((eb) => [
      ...keys,
      'client',
      step.as('step'),
      eb.fn.countAll<number>().as('requests'),
      eb.fn.max('startedMs').as('lastMs'),
      // The id that belongs to the latest start: both in one text, with times of equal length.
      sql<string>`max(started_ms || ' ' || id)`.as('last'),
    ])
    .groupBy([step, ...keys, 'client'])
    .execute();
  return new Map(
    [...groupBy(rows, (row) => row.step)].map(([number, unit]) => [
      number * lengthMs,
      {
        value: unit.map(({ last, step: _step, ...group }) => ({
          ...group,
          lastId: last.slice(last.indexOf(' ') + 1),
        })),
        sizeBytes: unit.length * BYTES_OF_GROUP,
      },
    ]),
  );
}
