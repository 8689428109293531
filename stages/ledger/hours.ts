/**
 * The sums of every hour, kept beside the rows: a report over a million requests reads some
 * thousands of sums, and sums outlive the rows that retention deletes. The writer adds what a batch
 * really stored to its hours in the batch's own transaction, so that both are always one.
 */
import type { Totals } from './figures.ts';

export const HOUR_MS = 3_600_000;

/** What sums of hours are told apart by. Sessions are not: there is one for every few requests. */
export const HOUR_KEYS = [
  'provider',
  'model',
  'client',
  'skill',
  'node',
  'mode',
  'keyLabel',
  'project',
] as const;

export type HourKey = (typeof HOUR_KEYS)[number];

/** The sums of the requests that began in one hour and have all keys in common. */
export type StoredHour = { readonly [K in HourKey]: string | null } & {
  /** Where the hour begins, in milliseconds since the epoch. */
  readonly startedMs: number;
} & Totals;

/** The same as columns. */
export const KEY_COLUMNS = HOUR_KEYS.map((key) =>
  key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

const when = (condition: string, value = '1') => `CASE WHEN ${condition} THEN ${value} ELSE 0 END`;
const known = (column: string) => `coalesce(${column}, 0)`;
const MARKED = 'breakpoints IS NOT NULL';
/** True for a request that failed, in SQL over its row. Must mean what `isFailure` does. */
export const FAILED_SQL = `outcome IN ('error', 'partial') OR coalesce(status, 0) >= 400`;
const UNPRICED =
  'cost_nano_usd IS NULL AND (input_tokens_sent IS NOT NULL OR output_tokens IS NOT NULL)';

/** What a row adds to each sum. Must mean what `addToTotals` does. */
const SUMS: readonly (readonly [sum: string, added: string])[] = [
  ['requests', '1'],
  ['errors', when(FAILED_SQL)],
  ['cancelled', when(`outcome = 'cancelled'`)],
  ['cache_hits', 'cache_hit'],
  ['streamed', 'stream'],
  ['input_tokens', known('input_tokens_raw')],
  ['sent_input_tokens', known('input_tokens_sent')],
  ['saved_tokens', known('saved_tokens')],
  ['added_tokens', known('added_tokens')],
  ['output_tokens', known('output_tokens')],
  ['cache_read_tokens', known('cache_read_tokens')],
  ['cache_write_tokens', known('cache_write_tokens')],
  ['marked', when(MARKED)],
  ['marked_read_tokens', when(MARKED, known('cache_read_tokens'))],
  ['marked_write_tokens', when(MARKED, known('cache_write_tokens'))],
  ['cost_nano_usd', known('cost_nano_usd')],
  ['cost_saved_nano_usd', known('cost_saved_nano_usd')],
  ['cost_saved_by_breakpoints_nano_usd', known('cost_saved_by_breakpoints_nano_usd')],
  ['cost_saved_by_answers_nano_usd', when('cache_hit = 1', known('cost_saved_nano_usd'))],
  ['cost_added_nano_usd', known('cost_added_nano_usd')],
  ['priced', when('cost_nano_usd IS NOT NULL')],
  ['unpriced', when(UNPRICED)],
  ['latency_sum_ms', known('latency_ms')],
  ['timed', when('latency_ms IS NOT NULL')],
  // What is left out at cold moments.
  ['forgetting', when('forgotten_tokens IS NOT NULL')],
  ['forgotten_tokens', known('forgotten_tokens')],
  ['cost_saved_by_forgetting_nano_usd', known('cost_saved_by_forgetting_nano_usd')],
  // Long results in parts.
  ['long_results', when('long_result_tokens IS NOT NULL')],
  ['long_result_tokens', known('long_result_tokens')],
  ['cost_saved_by_long_results_nano_usd', known('cost_saved_by_long_results_nano_usd')],
  // Definitions of tools that are trimmed.
  ['trimmed_tools', when('tool_tokens IS NOT NULL')],
  ['tool_tokens', known('tool_tokens')],
  ['cost_saved_by_tools_nano_usd', known('cost_saved_by_tools_nano_usd')],
];

/** Each sum, and what a row adds to it in SQL. */
export const ROW_SUMS = SUMS.map(
  ([sum, added]) =>
    [
      sum.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Totals,
      added,
    ] as const,
);

/** NULL equals nothing, not even NULL; no name holds the character that stands for it. */
const UNIQUE = ['started_ms', ...KEY_COLUMNS.map((key) => `coalesce(${key}, char(1))`)].join(', ');
const hourOf = (column: string) => `${column} - ${column} % ${HOUR_MS}`;

/**
 * Up to which row the hours have everything. Where the newest rows were deleted, or all are
 * numbered anew (`VACUUM`), that is the newest one that is left: numbers then come a second time.
 */
export const SUMMED_UPTO = `SELECT min(rowid_upto, coalesce((SELECT max(rowid) FROM requests), 0))
  FROM summed`;
/** Adds the rows past the bound one to their hours. */
export const ADD_TO_HOURS = addToHours('requests WHERE rowid > ?');
export const NOTE_SUMMED = `UPDATE summed
  SET rowid_upto = coalesce((SELECT max(rowid) FROM requests), 0)`;

/** Adds the rows that `from` names to their hours. */
export function addToHours(from: string): string {
  return `INSERT INTO hours (${['started_ms', ...KEY_COLUMNS, ...SUMS.map(([sum]) => sum)].join(', ')})
  SELECT ${hourOf('started_ms')} AS hour, ${KEY_COLUMNS.join(', ')},
    ${SUMS.map(([, added]) => `sum(${added})`).join(', ')}
  FROM ${from} GROUP BY hour, ${KEY_COLUMNS.join(', ')}
  ON CONFLICT (${UNIQUE}) DO UPDATE SET
    ${SUMS.map(([sum]) => `${sum} = hours.${sum} + excluded.${sum}`).join(', ')}`;
}
