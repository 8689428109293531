/**
 * The tools of a request: its new results, and the definitions it carries. Tokens are estimated as
 * those of the model, like saved ones.
 */

import { shortHash } from './short-hash.ts';

/** What one tool returned in one request, in the results after the model's last answer. */
export interface ToolResults {
  readonly tool: string;
  readonly calls: number;
  /** Calls whose result reports a failure. */
  readonly failed: number;
  /** Tokens of their texts as the client sent them. */
  readonly tokens: number;
  /** Tokens of their texts as sent upstream. */
  readonly sentTokens: number;
}

/** A tool and the size of its definition, in the fixed estimator's tokens. */
export type SizedTool = readonly [tool: string, tokens: number];

/** The definitions that a request carries. */
export interface ToolSet {
  /** Identifies these tools with these sizes, on any machine. */
  readonly id: string;
  /** Tokens of all of them. */
  readonly tokens: number;
  /** The largest first; those past `MAX_TOOLS` are combined into one. */
  readonly tools: readonly SizedTool[];
  /** The tools as JSON text. */
  readonly json: string;
}

/** Tools of one request that are counted by name. */
export const MAX_TOOLS = 200;
/** Common name of those past the limit. */
export const OTHER_TOOLS = '(other)';
/** Name for a result whose call is not in the request. */
export const UNKNOWN_TOOL = 'unknown';

const MAX_NAME_CHARS = 128;

/**
 * Returns a tool's name as figures show it: bounded, and without unprintable characters and spaces.
 */
export function toolName(name: string): string {
  return name.slice(0, MAX_NAME_CHARS).replaceAll(/[\p{C}\p{Z}]/gu, '_') || UNKNOWN_TOOL;
}

/** Returns the MCP server of a tool that is named `mcp__server__tool`; null for all others. */
export function mcpServerOf(tool: string): string | null {
  return /^mcp__(.+?)__/.exec(tool)?.[1] ?? null;
}

/** Returns the MCP servers of the tools with results or definitions, each once, in that order. */
export function mcpServersOf(
  results: readonly ToolResults[] | null,
  set: ToolSet | null,
): readonly string[] {
  const tools = [
    ...(results ?? []).map(({ tool }) => tool),
    ...(set?.tools ?? []).map(([tool]) => tool),
  ];
  return [...new Set(tools.flatMap((tool) => mcpServerOf(tool) ?? []))];
}

/** Makes the set of these tools. */
export function toolSet(tokensByTool: ReadonlyMap<string, number>): ToolSet {
  const sorted = [...tokensByTool].toSorted(
    ([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1),
  );
  const tools: SizedTool[] = sorted.slice(0, MAX_TOOLS);
  const others = sorted.slice(MAX_TOOLS).reduce((sum, [, tokens]) => sum + tokens, 0);
  if (others > 0) tools.push([OTHER_TOOLS, others]);
  const tokens = tools.reduce((sum, [, own]) => sum + own, 0);
  const json = JSON.stringify(tools);
  return Object.freeze({ id: shortHash([json]), tokens, tools, json });
}
