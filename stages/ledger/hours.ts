/**
 * The sums of every hour, kept beside the rows: a report over a million requests reads some
 * thousands of sums, and sums outlive the rows that retention deletes. The file itself adds a row
 * to its hour as it is inserted, so that both are always one.
 */
import type { Totals } from './figures.ts';

export const HOUR_MS = 3_600_000;

/** What sums of hours are told apart by. Sessions are not: there is one for every few requests. */
export const HOUR_KEYS = ['provider', 'model', 'client', 'skill', 'node', 'mode'] as const;

export type HourKey = (typeof HOUR_KEYS)[number];

/** The sums of the requests that began in one hour and have all keys in common. */
export type StoredHour = { readonly [K in HourKey]: string | null } & {
  /** Where the hour begins, in milliseconds since the epoch. */
  readonly startedMs: number;
} & Totals;

/** What a row adds to each sum; `@` stands before its columns. Must mean what `addToTotals` does. */
const ADDED: readonly (readonly [sum: string, added: string])[] = [
  ['requests', '1'],
  ['errors', `(@outcome IN ('error', 'partial') OR coalesce(@status, 0) >= 400)`],
  ['cancelled', `(@outcome = 'cancelled')`],
  ['cache_hits', '@cache_hit'],
  ['streamed', '@stream'],
  ['input_tokens', 'coalesce(@input_tokens_raw, 0)'],
  ['sent_input_tokens', 'coalesce(@input_tokens_sent, 0)'],
  ['saved_tokens', 'coalesce(@saved_tokens, 0)'],
  ['added_tokens', 'coalesce(@added_tokens, 0)'],
  ['output_tokens', 'coalesce(@output_tokens, 0)'],
  ['cache_read_tokens', 'coalesce(@cache_read_tokens, 0)'],
  ['cache_write_tokens', 'coalesce(@cache_write_tokens, 0)'],
  ['marked', '(@breakpoints IS NOT NULL)'],
  ['marked_read_tokens', '(@breakpoints IS NOT NULL) * coalesce(@cache_read_tokens, 0)'],
  ['marked_write_tokens', '(@breakpoints IS NOT NULL) * coalesce(@cache_write_tokens, 0)'],
  ['cost_nano_usd', 'coalesce(@cost_nano_usd, 0)'],
  ['cost_saved_nano_usd', 'coalesce(@cost_saved_nano_usd, 0)'],
  ['cost_saved_by_breakpoints_nano_usd', 'coalesce(@cost_saved_by_breakpoints_nano_usd, 0)'],
  ['cost_saved_by_answers_nano_usd', '(@cache_hit = 1) * coalesce(@cost_saved_nano_usd, 0)'],
  ['cost_added_nano_usd', 'coalesce(@cost_added_nano_usd, 0)'],
  ['priced', '(@cost_nano_usd IS NOT NULL)'],
  [
    'unpriced',
    '(@cost_nano_usd IS NULL AND (@input_tokens_sent IS NOT NULL OR @output_tokens IS NOT NULL))',
  ],
  ['latency_sum_ms', 'coalesce(@latency_ms, 0)'],
  ['timed', '(@latency_ms IS NOT NULL)'],
];

/** Sums that came with what is left out at cold moments. */
const FORGETTING: typeof ADDED = [
  ['forgetting', '(@forgotten_tokens IS NOT NULL)'],
  ['forgotten_tokens', 'coalesce(@forgotten_tokens, 0)'],
  ['cost_saved_by_forgetting_nano_usd', 'coalesce(@cost_saved_by_forgetting_nano_usd, 0)'],
];

const SUMS = ADDED.map(([sum]) => sum);
const COLUMNS = ['started_ms', ...HOUR_KEYS, ...SUMS].join(', ');
/** NULL equals nothing, not even NULL; no name holds the character that stands for it. */
const UNIQUE = ['started_ms', ...HOUR_KEYS.map((key) => `coalesce(${key}, char(1))`)].join(', ');
const hourOf = (column: string) => `${column} - ${column} % ${HOUR_MS}`;

/** The step of the schema that adds the sums, those of the rows that are there included. */
export const addHours: readonly string[] = [
  `CREATE TABLE hours (
    started_ms INTEGER NOT NULL,
    ${HOUR_KEYS.map((key) => `${key} TEXT`).join(', ')},
    ${SUMS.map((sum) => `${sum} ${sum === 'latency_sum_ms' ? 'REAL' : 'INTEGER'} NOT NULL`).join(', ')}
  ) STRICT`,
  `CREATE UNIQUE INDEX hours_of ON hours (${UNIQUE})`,
  `INSERT INTO hours (${COLUMNS})
   SELECT ${hourOf('started_ms')} AS hour, ${HOUR_KEYS.join(', ')},
     ${ADDED.map(([, added]) => `sum(${added.replaceAll('@', '')})`).join(', ')}
   FROM requests GROUP BY hour, ${HOUR_KEYS.join(', ')}`,
  intoHours(ADDED),
];

/** The step that adds the figures of forgetting to rows and sums. */
export const addForgetting: readonly string[] = [
  'ALTER TABLE requests ADD COLUMN forgotten_tokens INTEGER',
  'ALTER TABLE requests ADD COLUMN cost_saved_by_forgetting_nano_usd INTEGER',
  ...FORGETTING.map(([sum]) => `ALTER TABLE hours ADD COLUMN ${sum} INTEGER NOT NULL DEFAULT 0`),
  'DROP TRIGGER requests_into_hours',
  intoHours([...ADDED, ...FORGETTING]),
];

/** Adds each new row to its hour. */
function intoHours(sums: typeof ADDED): string {
  const keys = HOUR_KEYS.map((key) => `new.${key}`);
  const added = sums.map(([, one]) => one.replaceAll('@', 'new.'));
  return `CREATE TRIGGER requests_into_hours AFTER INSERT ON requests BEGIN
    INSERT INTO hours (${['started_ms', ...HOUR_KEYS, ...sums.map(([sum]) => sum)].join(', ')})
    VALUES (${[hourOf('new.started_ms'), ...keys, ...added].join(', ')})
    ON CONFLICT (${UNIQUE}) DO UPDATE SET
      ${sums.map(([sum]) => `${sum} = ${sum} + excluded.${sum}`).join(', ')};
  END`;
}
