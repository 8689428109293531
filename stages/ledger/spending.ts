/** What was spent, as limits count it: by period, by owner, by session. */
import { sql } from 'kysely';
import { inSpan, sumsBy } from './sums.ts';
import type { TimeSpan } from './sums.ts';
import type { LedgerReader } from './tables.ts';

const DAY_MS = 86_400_000;

/** What was spent from `sinceMs` on. */
export interface Spending {
  readonly costNanoUsd: number;
  /** Sent input and output; cached responses used none. */
  readonly tokens: number;
}

/** As limits count it: including the known or estimated cost of requests without a price. */
const SPENT =
  sql<number>`coalesce(sum(coalesce(cost_nano_usd, 0) + coalesce(budget_nano_usd, 0)), 0)`.as(
    'costNanoUsd',
  );

/** One of the machines that share a ledger; null for all unnamed ones. */
export interface OneNode {
  readonly node: string | null;
}

/**
 * Returns the spending of requests that began before the end of `span` and ended in it; if a
 * machine is given, only of that one.
 */
export async function spendingIn(
  db: LedgerReader,
  span: Required<TimeSpan>,
  only?: OneNode,
): Promise<Spending> {
  const began = { sinceMs: span.sinceMs - DAY_MS, untilMs: span.untilMs };
  return inSpan(db, began)
    .$if(only !== undefined, (query) => query.where('node', 'is not distinct from', only!.node))
    .where(sql`started_ms + coalesce(latency_ms, 0)`, '>=', span.sinceMs)
    .where(sql`coalesce(cache_hit, 0)`, '=', 0)
    .select([
      SPENT,
      sql<number>`coalesce(sum(coalesce(input_tokens_sent, 0) + coalesce(output_tokens, 0)), 0)`.as(
        'tokens',
      ),
    ])
    .executeTakeFirstOrThrow();
}

/** The spending of one key or project, or with an empty name of all together. */
export interface OwnerCost {
  readonly owner: 'proxy' | 'key' | 'project';
  readonly name: string;
  readonly costNanoUsd: number;
}

/**
 * Returns the cost of the requests that began in `span`: in total, by key and by project; if a
 * machine is given, only of that one.
 */
export async function costByOwner(
  db: LedgerReader,
  span: TimeSpan,
  only?: OneNode,
): Promise<readonly OwnerCost[]> {
  const groups = await sumsBy(db, ['keyLabel', 'project', 'node'], span);
  const sums = new Map<string, OwnerCost>();
  for (const { keys, totals } of groups) {
    const [key = null, project = null, node = null] = keys;
    if (only !== undefined && node !== only.node) continue;
    const owners = [
      ['proxy', ''],
      ['key', key],
      ['project', project],
    ] as const;
    for (const [owner, name] of owners) {
      if (name === null) continue;
      const id = `${owner}\0${name}`;
      const before = sums.get(id)?.costNanoUsd ?? 0;
      sums.set(id, {
        owner,
        name,
        costNanoUsd: before + totals.costNanoUsd + totals.budgetNanoUsd,
      });
    }
  }
  return [...sums.values()];
}

/** The spending of one client session. */
export interface SessionSpending {
  readonly session: string;
  readonly costNanoUsd: number;
}

/**
 * Returns the newest `max` sessions with spending in requests that began before `untilMs`, oldest
 * first.
 */
export async function sessionSpending(
  db: LedgerReader,
  untilMs: number,
  max: number,
  only?: OneNode,
): Promise<SessionSpending[]> {
  const rows = await inSpan(db, { sinceMs: 0, untilMs })
    .$if(only !== undefined, (query) => query.where('node', 'is not distinct from', only!.node))
    .where('sessionId', 'is not', null)
    .where(sql`coalesce(cost_nano_usd, 0) + coalesce(budget_nano_usd, 0)`, '<>', 0)
    .select((eb) => [eb.ref('sessionId').$notNull().as('session'), SPENT])
    .groupBy('sessionId')
    .orderBy((eb) => eb.fn.max('startedMs'), 'desc')
    .orderBy('sessionId')
    .limit(max)
    .execute();
  return rows.toReversed();
}
