/**
 * Sums by tool: one definition for the live window, which adds rows as they come, and for the
 * ledger, which is queried later. A test compares the two.
 */
import { toUsd } from '../figures.ts';
import type { LedgerRow } from '../row.ts';
import { mcpServerOf, OTHER_TOOLS, toolSet } from '../../model/tool-use.ts';
import type { ToolSet } from '../../model/tool-use.ts';

/** Sums over tool results. */
const RESULTS = {
  calls: 0,
  /** Calls whose result reports a failure. */
  failedCalls: 0,
  /** Tokens of new results as clients sent them; see `ToolResults`. */
  resultTokens: 0,
  /** Tokens of the same results as sent upstream. */
  sentResultTokens: 0,
};

/** Sums over tool definitions. */
const DEFINITIONS = {
  /** Definitions in requests; for one tool, the number of requests with its definition. */
  definitions: 0,
  /** Tokens of all of them; fractional, since a request's total is distributed over its tools. */
  definitionTokens: 0,
  /** Cost of the `pricedDefinitions` among them, in nano-dollars; fractional as well. */
  definitionNanoUsd: 0,
  pricedDefinitions: 0,
};

export const RESULT_SUMS = Object.keys(RESULTS) as (keyof typeof RESULTS)[];
export const DEFINITION_SUMS = Object.keys(DEFINITIONS) as (keyof typeof DEFINITIONS)[];

const TOOL_SUMS = [...RESULT_SUMS, ...DEFINITION_SUMS];

export type ResultTotals = Readonly<Record<keyof typeof RESULTS, number>>;
export type DefinitionTotals = Readonly<Record<keyof typeof DEFINITIONS, number>>;

/** The sums of one tool, or of one server of tools. */
export type ToolTotals = ResultTotals & DefinitionTotals;
export type RunningToolTotals = { -readonly [K in keyof ToolTotals]: number };

export function emptyToolTotals(): RunningToolTotals {
  return { ...RESULTS, ...DEFINITIONS };
}

export function addToolTotals(totals: RunningToolTotals, more: Partial<ToolTotals>): void {
  for (const name of TOOL_SUMS) totals[name] += more[name] ?? 0;
}

/** Distributes the sums of a set of definitions over its tools, by size. */
export function addDefinitions(
  of: (tool: string) => RunningToolTotals,
  sums: DefinitionTotals,
  { tools, tokens }: Pick<ToolSet, 'tools' | 'tokens'>,
): void {
  for (const [tool, own] of tools) {
    const totals = of(tool);
    const share = tokens === 0 ? 0 : own / tokens;
    totals.definitions += sums.definitions;
    totals.definitionTokens += sums.definitionTokens * share;
    totals.definitionNanoUsd += sums.definitionNanoUsd * share;
    totals.pricedDefinitions += sums.pricedDefinitions;
  }
}

/**
 * Creates sums by tool that grow with each row: at most `maxTools` tools and `maxSets` sets of
 * definitions, and those past the limits together.
 */
export function createToolSums(maxTools: number, maxSets: number) {
  const results = new Map<string, RunningToolTotals>();
  const sets = new Map<string, { readonly set: ToolSet; readonly sums: RunningToolTotals }>();
  const other = Object.freeze({ ...toolSet(new Map([[OTHER_TOOLS, 1]])), id: OTHER_TOOLS });
  const bounded = (groups: Map<string, RunningToolTotals>) => (tool: string) => {
    const name = groups.has(tool) || groups.size < maxTools ? tool : OTHER_TOOLS;
    const totals = groups.get(name) ?? emptyToolTotals();
    groups.set(name, totals);
    return totals;
  };
  const resultsOf = bounded(results);
  return {
    /** Must match `addToToolDays`. */
    add(row: LedgerRow): void {
      for (const { tool, calls, failed, tokens, sentTokens } of row.toolResults ?? [])
        addToolTotals(resultsOf(tool), {
          calls,
          failedCalls: failed,
          resultTokens: tokens,
          sentResultTokens: sentTokens,
        });
      if (row.toolSet === null) return;
      const set = sets.has(row.toolSet.id) || sets.size < maxSets ? row.toolSet : other;
      const entry = sets.get(set.id) ?? { set, sums: emptyToolTotals() };
      sets.set(set.id, entry);
      addToolTotals(entry.sums, {
        definitions: 1,
        definitionTokens: row.toolDefinitionTokens ?? 0,
        definitionNanoUsd: row.costToolDefinitionsNanoUsd ?? 0,
        pricedDefinitions: row.costToolDefinitionsNanoUsd === null ? 0 : 1,
      });
    },
    /** Returns the sums by tool; those that were called come first. */
    byTool(): ReadonlyMap<string, ToolTotals> {
      const tools = new Map([...results].map(([tool, totals]) => [tool, { ...totals }]));
      const ofTools = bounded(tools);
      for (const { set, sums } of sets.values()) addDefinitions(ofTools, sums, set);
      return tools;
    },
  };
}

/**
 * Returns the cost of definitions, in nano-dollars; null if some were sent and no such request has
 * a price.
 */
export function knownDefinitionCost(totals: ToolTotals): number | null {
  const hasNoPrice = totals.definitions > 0 && totals.pricedDefinitions === 0;
  return hasNoPrice ? null : Math.round(totals.definitionNanoUsd);
}

/** Returns the sums in the format of `/stats` and `svc attribution --json`; dollars. */
export function toolTotalsJson(totals: ToolTotals) {
  return {
    calls: totals.calls,
    failed_calls: totals.failedCalls,
    result_tokens: totals.resultTokens,
    sent_result_tokens: totals.sentResultTokens,
    definitions: totals.definitions,
    definition_tokens: Math.round(totals.definitionTokens),
    definition_cost: toUsd(knownDefinitionCost(totals)),
  };
}

/** Returns the sums of each name. The object has no prototype: a tool may be called `__proto__`. */
export function byToolJson(groups: ReadonlyMap<string, ToolTotals>) {
  const json = Object.create(null) as Record<string, ReturnType<typeof toolTotalsJson>>;
  for (const [name, totals] of groups) json[name] = toolTotalsJson(totals);
  return json;
}

/** Converts sums by tool to sums by MCP server; tools without a server are left out. */
export function byServer(tools: ReadonlyMap<string, ToolTotals>): ReadonlyMap<string, ToolTotals> {
  const servers = new Map<string, RunningToolTotals>();
  for (const [tool, totals] of tools) {
    const server = mcpServerOf(tool);
    if (server === null) continue;
    const sums = servers.get(server) ?? emptyToolTotals();
    addToolTotals(sums, totals);
    servers.set(server, sums);
  }
  return servers;
}
