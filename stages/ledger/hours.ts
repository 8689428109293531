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
const KEY_COLUMNS = [
  'provider',
  'model',
  'client',
  'skill',
  'node',
  'mode',
  'key_label',
  'project',
] as const satisfies readonly Uncamel<HourKey>[];
/** Those of the released steps before `addCallers`. */
const FIRST_KEYS = KEY_COLUMNS.slice(0, 6);

type Uncamel<K extends string> = K extends `${infer Head}L${infer Tail}` ? `${Head}_l${Tail}` : K;

type Added = readonly (readonly [sum: string, added: string])[];

const when = (condition: string, value = '1') => `CASE WHEN ${condition} THEN ${value} ELSE 0 END`;
const known = (column: string) => `coalesce(@${column}, 0)`;
const MARKED = '@breakpoints IS NOT NULL';
/** Must mean what `isFailure` does. */
const FAILED = `@outcome IN ('error', 'partial') OR coalesce(@status, 0) >= 400`;
const UNPRICED =
  '@cost_nano_usd IS NULL AND (@input_tokens_sent IS NOT NULL OR @output_tokens IS NOT NULL)';

/** What a row adds to each sum; `@` stands before its columns. Must mean what `addToTotals` does. */
const ADDED: Added = [
  ['requests', '1'],
  ['errors', when(FAILED)],
  ['cancelled', when(`@outcome = 'cancelled'`)],
  ['cache_hits', '@cache_hit'],
  ['streamed', '@stream'],
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
  ['cost_saved_by_answers_nano_usd', when('@cache_hit = 1', known('cost_saved_nano_usd'))],
  ['cost_added_nano_usd', known('cost_added_nano_usd')],
  ['priced', when('@cost_nano_usd IS NOT NULL')],
  ['unpriced', when(UNPRICED)],
  ['latency_sum_ms', known('latency_ms')],
  ['timed', when('@latency_ms IS NOT NULL')],
];

/** Sums that came with what is left out at cold moments. */
const FORGETTING: Added = [
  ['forgetting', when('@forgotten_tokens IS NOT NULL')],
  ['forgotten_tokens', known('forgotten_tokens')],
  ['cost_saved_by_forgetting_nano_usd', known('cost_saved_by_forgetting_nano_usd')],
];

/** Sums that came with long results in parts. */
const LONG_RESULTS: Added = [
  ['long_results', when('@long_result_tokens IS NOT NULL')],
  ['long_result_tokens', known('long_result_tokens')],
  ['cost_saved_by_long_results_nano_usd', known('cost_saved_by_long_results_nano_usd')],
];

/** Sums that came with definitions of tools that are trimmed. */
const TRIMMED_TOOLS: Added = [
  ['trimmed_tools', when('@tool_tokens IS NOT NULL')],
  ['tool_tokens', known('tool_tokens')],
  ['cost_saved_by_tools_nano_usd', known('cost_saved_by_tools_nano_usd')],
];

const ALL = [...ADDED, ...FORGETTING, ...LONG_RESULTS, ...TRIMMED_TOOLS];

/** True for a request that failed, in SQL over its row. */
export const FAILED_SQL = FAILED.replaceAll('@', '');

/** Each sum, and what a row adds to it in SQL. */
export const ROW_SUMS = ALL.map(
  ([sum, added]) =>
    [
      sum.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Totals,
      added.replaceAll('@', ''),
    ] as const,
);

const SUMS = ADDED.map(([sum]) => sum);
const COLUMNS = ['started_ms', ...FIRST_KEYS, ...SUMS].join(', ');
/** NULL equals nothing, not even NULL; no name holds the character that stands for it. */
const uniqueBy = (keys: readonly string[]) =>
  ['started_ms', ...keys.map((key) => `coalesce(${key}, char(1))`)].join(', ');
const hourOf = (column: string) => `${column} - ${column} % ${HOUR_MS}`;

/** The step of the schema that adds the sums, those of the rows that are there included. */
export const addHours: readonly string[] = [
  `CREATE TABLE hours (
    started_ms INTEGER NOT NULL,
    ${FIRST_KEYS.map((key) => `${key} TEXT`).join(', ')},
    ${SUMS.map((sum) => `${sum} ${sum === 'latency_sum_ms' ? 'REAL' : 'INTEGER'} NOT NULL`).join(', ')}
  ) STRICT`,
  `CREATE UNIQUE INDEX hours_of ON hours (${uniqueBy(FIRST_KEYS)})`,
  `INSERT INTO hours (${COLUMNS})
   SELECT ${hourOf('started_ms')} AS hour, ${FIRST_KEYS.join(', ')},
     ${ADDED.map(([, added]) => `sum(${added.replaceAll('@', '')})`).join(', ')}
   FROM requests GROUP BY hour, ${FIRST_KEYS.join(', ')}`,
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

/** The step that adds the figures of long results in parts to rows and sums. */
export const addLongResults: readonly string[] = [
  'ALTER TABLE requests ADD COLUMN long_result_tokens INTEGER',
  'ALTER TABLE requests ADD COLUMN cost_saved_by_long_results_nano_usd INTEGER',
  ...LONG_RESULTS.map(([sum]) => `ALTER TABLE hours ADD COLUMN ${sum} INTEGER NOT NULL DEFAULT 0`),
  'DROP TRIGGER requests_into_hours',
  intoHours([...ADDED, ...FORGETTING, ...LONG_RESULTS]),
];

/** The step that adds the figures of trimmed tools to rows and sums. */
export const addTrimmedTools: readonly string[] = [
  'ALTER TABLE requests ADD COLUMN tool_tokens INTEGER',
  'ALTER TABLE requests ADD COLUMN cost_saved_by_tools_nano_usd INTEGER',
  ...TRIMMED_TOOLS.map(([sum]) => `ALTER TABLE hours ADD COLUMN ${sum} INTEGER NOT NULL DEFAULT 0`),
  'DROP TRIGGER requests_into_hours',
  intoHours(ALL),
];

/**
 * The step that lets a report over a million rows read what it is about alone: latencies without
 * their rows, failed requests, those with something added, and the rows of a session.
 */
export const addReportIndexes: readonly string[] = [
  'CREATE INDEX requests_timed ON requests (started_ms, latency_ms)',
  'DROP INDEX requests_started',
  `CREATE INDEX requests_failed ON requests (started_ms) WHERE (${FAILED_SQL})`,
  'CREATE INDEX requests_injected ON requests (started_ms) WHERE chunks_injected > 0',
  'CREATE INDEX requests_of_session ON requests (session_id, started_ms) WHERE session_id IS NOT NULL',
];

/**
 * The step after which the writer adds to the hours, once a batch: done by the file for each row
 * it took a third of the writer's time. `summed` says up to which row that was done, because an
 * older program that has the file open goes on storing rows, and adds nothing any more.
 */
export const addByBatch: readonly string[] = [
  'DROP TRIGGER requests_into_hours',
  'CREATE TABLE summed (rowid_upto INTEGER NOT NULL) STRICT',
  'INSERT INTO summed SELECT coalesce(max(rowid), 0) FROM requests',
];

/**
 * The step that adds who sent a request and what for to rows and sums; what was summed before it
 * was of neither.
 */
export const addCallers: readonly string[] = [
  'ALTER TABLE requests ADD COLUMN key_label TEXT',
  'ALTER TABLE requests ADD COLUMN project TEXT',
  'ALTER TABLE hours ADD COLUMN key_label TEXT',
  'ALTER TABLE hours ADD COLUMN project TEXT',
  'DROP INDEX hours_of',
  `CREATE UNIQUE INDEX hours_of ON hours (${uniqueBy(KEY_COLUMNS)})`,
];

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
  return `INSERT INTO hours (${['started_ms', ...KEY_COLUMNS, ...ALL.map(([sum]) => sum)].join(', ')})
  SELECT ${hourOf('started_ms')} AS hour, ${KEY_COLUMNS.join(', ')},
    ${ALL.map(([, added]) => `sum(${added.replaceAll('@', '')})`).join(', ')}
  FROM ${from} GROUP BY hour, ${KEY_COLUMNS.join(', ')}
  ${onSameHour(KEY_COLUMNS, ALL, 'hours.')}`;
}

/** `own` stands before what the hour has: Postgres wants to know that it is not the added. */
function onSameHour(keys: readonly string[], sums: Added, own = ''): string {
  return `ON CONFLICT (${uniqueBy(keys)}) DO UPDATE SET
    ${sums.map(([sum]) => `${sum} = ${own}${sum} + excluded.${sum}`).join(', ')}`;
}

/** Adds each new row to its hour. */
function intoHours(sums: Added): string {
  const keys = FIRST_KEYS.map((key) => `new.${key}`);
  const added = sums.map(([, one]) => one.replaceAll('@', 'new.'));
  return `CREATE TRIGGER requests_into_hours AFTER INSERT ON requests BEGIN
    INSERT INTO hours (${['started_ms', ...FIRST_KEYS, ...sums.map(([sum]) => sum)].join(', ')})
    VALUES (${[hourOf('new.started_ms'), ...keys, ...added].join(', ')})
    ${onSameHour(FIRST_KEYS, sums)};
  END`;
}
