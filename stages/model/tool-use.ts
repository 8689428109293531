/**
 * What a request says of tools: the results that are new in it, and the definitions that it carried.
 * Tokens are the model's own, estimated as saved ones are.
 */

import { shortHash } from './short-hash.ts';

/** What one tool gave back in one request, in the results after the model's last answer. */
export interface ToolResults {
  readonly tool: string;
  readonly calls: number;
  /** Calls whose result says that they failed. */
  readonly failed: number;
  /** Of their texts as the client sent them. */
  readonly tokens: number;
  /** The same as they went upstream. */
  readonly sentTokens: number;
}

/** A tool and the size of its definition, in the fixed estimator's tokens. */
export type SizedTool = readonly [tool: string, tokens: number];

/** The definitions that a request carries. */
export interface ToolSet {
  /** Names these tools with these sizes, on any machine. */
  readonly id: string;
  /** Of all of them. */
  readonly tokens: number;
  /** The largest first; those past `MAX_TOOLS` are one. */
  readonly tools: readonly SizedTool[];
  /** The tools as JSON text. */
  readonly json: string;
}

/** Tools of one request that are counted by name. */
export const MAX_TOOLS = 200;
/** What those past the bound are called together. */
export const OTHER_TOOLS = '(other)';
/** What a result belongs to whose call is not in the request. */
export const UNKNOWN_TOOL = 'unknown';

const MAX_NAME_CHARS = 128;

/** A tool's name as figures have it: bounded, and without what cannot be printed, spaces included. */
export function toolName(name: string): string {
  return name.slice(0, MAX_NAME_CHARS).replaceAll(/[\p{C}\p{Z}]/gu, '_') || UNKNOWN_TOOL;
}

/** The MCP server of a tool that is named `mcp__server__tool`; null for all others. */
export function mcpServerOf(tool: string): string | null {
  return /^mcp__(.+?)__/.exec(tool)?.[1] ?? null;
}

/** The MCP servers of the tools that gave something back or were defined, each once, in that order. */
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

/** The definitions of these tools. */
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
