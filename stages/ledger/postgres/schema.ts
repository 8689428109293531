/**
 * The ledger's schema in Postgres: the same numbered steps as in a file, each statement translated.
 * What a file keeps in its header is in a table of one row.
 */
import { COLUMNS, FIELDS } from '../columns.ts';
import type { Column } from '../columns.ts';
import { addToHours } from '../hours.ts';
import type { Cell } from '../tables.ts';
import type { Migration } from '../migrations.ts';
import { CELLS, ledgerColumns } from '../tables.ts';
import { addToToolDays, keepToolSets } from '../tools/tool-days.ts';

/** Older versions of Postgres lack what the statements need. */
export const OLDEST_SERVER = 12;

/**
 * The version, the id of this ledger, and the lock under which writers take turns: so no sum is
 * updated by two at once, and rows are numbered in the order in which they become visible.
 */
export const VERSION_TABLE = 'svc_ledger';

export const createVersionTable = `CREATE TABLE ${VERSION_TABLE} (
  only_row BOOLEAN PRIMARY KEY DEFAULT true CHECK (only_row),
  version INTEGER NOT NULL,
  ledger_id TEXT NOT NULL
)`;

/** SQLite only: triggers that a later step drops again, and how far a file has been summed up. */
const OF_FILES = /^(?:CREATE|DROP) TRIGGER\b|\bsummed\b/;

/** Texts are compared byte by byte, as in a file; whole numbers have 64 bits there as well. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/\bINTEGER\b/g, 'BIGINT'],
  [/\bREAL\b/g, 'DOUBLE PRECISION'],
  [/\bTEXT\b/g, 'TEXT COLLATE "C"'],
  [/\)\s*STRICT$/, ')'],
  // A file numbers its rows itself.
  [
    /^CREATE TABLE requests \(/,
    'CREATE TABLE requests (\n      rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,',
  ],
  [/\bchar\(/g, 'chr('],
  [/\bjson_each\((\w+)\) AS each\b/g, 'json_array_elements($1::json) AS each(value)'],
];

/** Returns a step of the schema for Postgres. */
export function toPostgres(step: Migration): Migration {
  return step.filter((sql) => !OF_FILES.test(sql)).map(inPostgres);
}

function inPostgres(sql: string): string {
  return TYPES.reduce((text, [sqlite, postgres]) => text.replace(sqlite, postgres), sql);
}

const TYPE_OF = {
  text: 'text',
  whole: 'bigint',
  flag: 'bigint',
  fraction: 'double precision',
} as const satisfies Readonly<Record<Column<unknown>['type'], string>>;

/** The parameters of a row, and their types: its columns, and the content of its tool set. */
const GIVEN = [...ledgerColumns, 'tools_of_set'];
const GIVEN_TYPES = [...FIELDS.map((field) => TYPE_OF[COLUMNS[field].type]), 'text'];
const [ADDED_RESULTS, ADDED_DEFINITIONS] = addToToolDays('stored');

/**
 * Stores rows, passed as a list for each column after the version of the schema, and adds the new
 * ones to their hours: one statement, so that it is atomic and takes one round trip. `held` says
 * whether the schema still has that version; if not, nothing is stored.
 */
export const STORE_ROWS = `WITH held AS MATERIALIZED (
    SELECT 1 FROM ${VERSION_TABLE} WHERE version = $1 FOR UPDATE
  ), given AS (
    SELECT given.* FROM held, unnest(${GIVEN_TYPES.map((type, at) => `$${at + 2}::${type}[]`).join(
      ', ',
    )}) AS given (${GIVEN.join(', ')})
  ), stored AS (
    INSERT INTO requests (${ledgerColumns.join(', ')})
    SELECT ${ledgerColumns.join(', ')} FROM given
    ON CONFLICT (id) DO NOTHING RETURNING *
  ), added AS (
    ${inPostgres(addToHours('stored'))}
  ), kept_sets AS (
    ${inPostgres(keepToolSets('SELECT DISTINCT ON (tool_set) tool_set AS id, tools_of_set AS tools FROM given WHERE tool_set IS NOT NULL'))}
  ), added_results AS (
    ${inPostgres(ADDED_RESULTS)}
  ), added_definitions AS (
    ${inPostgres(ADDED_DEFINITIONS)}
  )
  SELECT count(*)::int AS held FROM held`;

/** Two proxies that delete at once take different rows. */
export const PRUNE = `DELETE FROM requests WHERE rowid IN (
    SELECT rowid FROM requests WHERE started_ms < $1 ORDER BY started_ms LIMIT $2
    FOR UPDATE SKIP LOCKED
  )`;

/** Converts a flat batch to a list for each column. */
export function toColumns(cells: readonly Cell[]): Cell[][] {
  const columns: Cell[][] = Array.from({ length: CELLS }, () => []);
  for (const [at, cell] of cells.entries()) columns[at % CELLS]!.push(toPostgresCell(cell));
  return columns;
}

function toPostgresCell(cell: Cell): Cell {
  if (typeof cell === 'string') return toPostgresText(cell);
  return Number.isNaN(cell) ? null : cell;
}

/** Replaces NUL, the one character that Postgres cannot store; a file keeps it. */
export function toPostgresText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u{fffd}') : text;
}
