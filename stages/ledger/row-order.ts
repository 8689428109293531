/**
 * The orders in which requests can be listed: by any of the figures and names that a list shows.
 */
import { sql } from 'kysely';
import { isPostgres } from './dialect.ts';
import type { LedgerReader } from './tables.ts';

/** Sort keys by their names in the JSON, with their SQL. */
const ORDERS = {
  timestamp: 'started_ms',
  request_id: 'id',
  model: 'coalesce(model, model_requested)',
  provider: 'provider',
  client: 'client',
  project: 'project',
  key: 'key_label',
  session_id: 'session_id',
  input_tokens: 'input_tokens_raw',
  sent_input_tokens: 'input_tokens_sent',
  tokens_saved: 'saved_tokens',
  output_tokens: 'output_tokens',
  provider_cache_read_tokens: 'cache_read_tokens',
  cost: 'cost_nano_usd',
  latency_ms: 'latency_ms',
  ttfb_ms: 'ttfb_ms',
  attempts: 'attempts',
  outcome: 'outcome',
} as const;

export type RowOrderKey = keyof typeof ORDERS;

export const ROW_ORDERS = Object.keys(ORDERS) as readonly RowOrderKey[];

export interface RowOrder {
  readonly by: RowOrderKey;
  readonly isAscending: boolean;
}

export const NEWEST_FIRST: RowOrder = { by: 'timestamp', isAscending: false };

const TEXTS: ReadonlySet<RowOrderKey> = new Set([
  'request_id',
  'model',
  'provider',
  'client',
  'project',
  'key',
  'session_id',
  'outcome',
]);

/**
 * Returns the terms of ORDER BY: unmeasured values come last in either direction, and ties are
 * sorted newest first.
 */
export function orderTerms(db: LedgerReader, { by, isAscending }: RowOrder) {
  const way = isAscending ? '' : ' DESC';
  // Both databases compare the bytes of texts, as the page compares their characters.
  const collation = TEXTS.has(by) && isPostgres(db) ? ' COLLATE "C"' : '';
  const column = ORDERS[by];
  return by === 'timestamp'
    ? [sql.raw(`started_ms${way}`), sql.raw(`id${way}`)]
    : [
        sql.raw(`CASE WHEN ${column} IS NULL THEN 1 ELSE 0 END`),
        sql.raw(`${column}${collation}${way}`),
        sql.raw('started_ms DESC'),
        sql.raw('id DESC'),
      ];
}
