/**
 * The sums of every UTC day by tool, and by set of definitions, which outlive the rows that
 * retention deletes. The writer adds the rows that a batch actually stored in the batch's own
 * transaction, as for the hourly sums. The content of a set is stored once and distributed over its
 * tools at query time: an agent sends the same hundred definitions in every turn.
 */
import { columnName } from '../columns.ts';
import { KEY_COLUMNS } from '../hours.ts';
import type { HourKey } from '../hours.ts';
import { DEFINITION_SUMS, RESULT_SUMS } from './tool-totals.ts';
import type { DefinitionTotals, ResultTotals } from './tool-totals.ts';

export const DAY_MS = 86_400_000;
/**
 * Maximum number of sets stored with their tools; a client can invent any number. Of others only
 * the sums are stored.
 */
const MAX_SETS = 2000;

type DayKeys = { readonly [K in HourKey]: string | null } & {
  /** The beginning of the day, in milliseconds since the epoch. */
  readonly startedMs: number;
};

/** The results of one tool in the requests that began in one UTC day and share all keys. */
export type StoredToolDay = DayKeys & { readonly tool: string } & ResultTotals;
/** The definitions of one set in the same requests. */
export type StoredToolSetDay = DayKeys & { readonly toolSet: string } & DefinitionTotals;

/** The tools of a set and their sizes, as JSON text. */
export interface StoredToolSet {
  readonly id: string;
  readonly tools: string;
}

const DAY = `started_ms - started_ms % ${DAY_MS} AS day`;

/**
 * Returns SQL that adds the rows named by `rows` to their days, by tool and by set; the statements
 * are independent.
 */
export function addToToolDays(rows: string): readonly [results: string, definitions: string] {
  const figure = (place: number) => `sum(CAST(each.value ->> ${place} AS INTEGER))`;
  return [
    adding('tool_days', 'tool', RESULT_SUMS, {
      name: 'each.value ->> 0',
      figures: RESULT_SUMS.map((_, at) => figure(at + 1)),
      from: `${rows}, json_each(tool_results) AS each WHERE tool_results IS NOT NULL`,
    }),
    adding('tool_set_days', 'tool_set', DEFINITION_SUMS, {
      name: 'tool_set',
      figures: [
        'count(*)',
        'sum(coalesce(tool_definition_tokens, 0))',
        'sum(coalesce(cost_tool_definitions_nano_usd, 0))',
        'count(cost_tool_definitions_nano_usd)',
      ],
      from: `${rows} WHERE tool_set IS NOT NULL`,
    }),
  ];
}

interface Added {
  readonly name: string;
  readonly figures: readonly string[];
  readonly from: string;
}

function adding(table: string, key: string, names: readonly string[], added: Added): string {
  const sums = names.map(columnName);
  const keys = KEY_COLUMNS.join(', ');
  const unique = KEY_COLUMNS.map((one) => `coalesce(${one}, char(1))`).join(', ');
  return `INSERT INTO ${table} (started_ms, ${key}, ${keys}, ${sums.join(', ')})
    SELECT ${DAY}, ${added.name} AS named, ${keys}, ${added.figures.join(', ')}
    FROM ${added.from} GROUP BY day, named, ${keys}
    ON CONFLICT (started_ms, ${key}, ${unique}) DO UPDATE SET
    ${sums.map((sum) => `${sum} = ${table}.${sum} + excluded.${sum}`).join(', ')}`;
}

/**
 * Returns SQL that stores the sets that `from` selects as id and tools, except those already stored
 * and those beyond the limit.
 */
export function keepToolSets(from: string): string {
  return `INSERT INTO tool_sets (id, tools) SELECT given.id, given.tools FROM (${from}) AS given
    WHERE (SELECT count(*) FROM tool_sets) < ${MAX_SETS} ON CONFLICT (id) DO NOTHING`;
}
