/** Queries of the sums by tool. */
import { sql } from 'kysely';
import { mcpServerOf, OTHER_TOOLS } from '../../model/tool-use.ts';
import type { SizedTool } from '../../model/tool-use.ts';
import type { HourKey } from '../hours.ts';
import { isPostgres } from '../dialect.ts';
import type { RowFilter } from '../sums.ts';
import type { LedgerReader } from '../tables.ts';
import { DAY_MS } from './tool-days.ts';
import {
  addDefinitions,
  addToolTotals,
  DEFINITION_SUMS,
  emptyToolTotals,
  RESULT_SUMS,
} from './tool-totals.ts';
import type {
  DefinitionTotals,
  ResultTotals,
  RunningToolTotals,
  ToolTotals,
} from './tool-totals.ts';

/** The keys of sums by tool: the tool itself, its MCP server, and the keys of hourly sums. */
export type ToolKey = 'tool' | 'mcp' | HourKey;

export interface ToolGroup {
  /** In the requested order. */
  readonly keys: readonly (string | null)[];
  readonly totals: ToolTotals;
}

/** Which sums by tool to select: a request filter limited to their keys. */
export type ToolFilter = Pick<RowFilter, 'sinceMs' | 'untilMs' | 'model' | (typeof EXACT)[number]>;

const EXACT = ['provider', 'client', 'keyLabel', 'project'] as const;

/**
 * Returns the filter, or undefined if it uses something that sums by tool are not stored by:
 * conversations, outcomes, words.
 */
export function toToolFilter(filter: RowFilter): ToolFilter | undefined {
  const { sessionId, outcome, failed, id, words, ...kept } = filter;
  const isKept = [sessionId, outcome, failed, id, words].every((one) => one === undefined);
  return isKept ? kept : undefined;
}

/**
 * Returns the sums of the UTC days within or overlapping `filter`, for each combination of `keys`:
 * most calls first, then most tokens of definitions.
 */
export async function toolSums(
  db: LedgerReader,
  keys: readonly ToolKey[],
  filter: ToolFilter,
): Promise<ToolGroup[]> {
  const others = keys.filter((key) => key !== 'tool' && key !== 'mcp');
  const [results, definitions, sets] = await Promise.all([
    resultsIn(db, others, filter),
    definitionsIn(db, others, filter),
    db.selectFrom('toolSets').select(['id', 'tools']).execute(),
  ]);
  const groups = new Map<string, ToolGroup & { readonly totals: RunningToolTotals }>();
  const groupOf = (row: KeysOf, tool: string): RunningToolTotals => {
    const names = keys.map((key) =>
      key === 'mcp' ? mcpServerOf(tool) : key === 'tool' ? tool : (row[key] ?? null),
    );
    const id = JSON.stringify(names);
    const group = groups.get(id) ?? { keys: names, totals: emptyToolTotals() };
    groups.set(id, group);
    return group.totals;
  };
  for (const row of results) addToolTotals(groupOf(row, row.tool), row);
  const toolsOf = new Map(sets.map(({ id, tools }) => [id, JSON.parse(tools) as SizedTool[]]));
  for (const row of definitions) {
    const tools = toolsOf.get(row.toolSet) ?? [[OTHER_TOOLS, 1]];
    const tokens = tools.reduce((sum, [, own]) => sum + own, 0);
    addDefinitions((tool) => groupOf(row, tool), row, { tools, tokens });
  }
  return [...groups]
    .toSorted(
      ([idA, { totals: a }], [idB, { totals: b }]) =>
        b.calls - a.calls || b.definitionTokens - a.definitionTokens || (idA < idB ? -1 : 1),
    )
    .map(([, group]) => group);
}

type KeysOf = { readonly [K in HourKey]?: string | null };

const sumOf = (name: string) => sql<number>`sum(${sql.ref(name)})`;

async function resultsIn(db: LedgerReader, keys: readonly HourKey[], filter: ToolFilter) {
  const rows = await db
    .selectFrom('toolDays')
    .where(matches(db, filter))
    .select((eb) => [
      'tool',
      ...keys.map((key) => eb.ref(key).as(key)),
      ...RESULT_SUMS.map((name) => sumOf(name).as(name)),
    ])
    .groupBy(['tool', ...keys])
    .execute();
  return rows as readonly (KeysOf & { readonly tool: string } & ResultTotals)[];
}

/** In a fixed order, because fractions are added up. */
async function definitionsIn(db: LedgerReader, keys: readonly HourKey[], filter: ToolFilter) {
  const rows = await db
    .selectFrom('toolSetDays')
    .where(matches(db, filter))
    .select((eb) => [
      'toolSet',
      ...keys.map((key) => eb.ref(key).as(key)),
      ...DEFINITION_SUMS.map((name) => sumOf(name).as(name)),
    ])
    .groupBy(['toolSet', ...keys])
    .orderBy('toolSet')
    .execute();
  return rows as readonly (KeysOf & { readonly toolSet: string } & DefinitionTotals)[];
}

function matches(db: LedgerReader, filter: ToolFilter) {
  const { sinceMs, untilMs, model } = filter;
  const place = sql.raw(isPostgres(db) ? 'strpos' : 'instr');
  const conditions = [
    sql`started_ms >= ${Math.floor(sinceMs / DAY_MS) * DAY_MS}`,
    ...(untilMs === undefined ? [] : [sql`started_ms < ${untilMs}`]),
    ...(model === undefined
      ? []
      : [sql`${place}(lower(coalesce(model, '')), ${model.toLowerCase()}) > 0`]),
    ...EXACT.flatMap((key) =>
      filter[key] === undefined ? [] : [sql`${sql.ref(key)} = ${filter[key]}`],
    ),
  ];
  return sql<boolean>`(${sql.join(conditions, sql` AND `)})`;
}
