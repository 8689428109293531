/**
 * The tool figures of a request: the results after the model's last answer, which no earlier turn
 * has counted, and the definitions it carries. Only for requests that a provider answered: a retry
 * after a failure counts once.
 */
import type { LedgerRow } from '../ledger/row.ts';
import type { ToolSets } from '../learned/tool-sets.ts';
import type { ProxyRequest } from '../model/request.ts';
import { textOf } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import { MAX_TOOLS, OTHER_TOOLS, toolName, UNKNOWN_TOOL } from '../model/tool-use.ts';
import type { ToolResults } from '../model/tool-use.ts';

export type ToolFigures = Pick<
  LedgerRow,
  'toolResults' | 'toolDefinitionTokens' | 'costToolDefinitionsNanoUsd' | 'toolSet'
>;

/**
 * Returns the figures of an answered request of `input` tokens; `ratio` converts tokens of the
 * fixed estimator to the model's own, and `costOf` returns the cost of this many tokens at the
 * beginning of the prompt.
 */
export function toolFigures(
  request: ProxyRequest,
  input: number,
  ratio: number,
  toolSets: ToolSets,
  costOf: (tokens: number) => number | null,
): ToolFigures {
  const set = toolSets(request)?.set;
  const results = newResults(request, ratio);
  const toolResults = results.length === 0 ? null : results;
  if (set === undefined || set.tokens === 0)
    return {
      toolResults,
      toolDefinitionTokens: null,
      costToolDefinitionsNanoUsd: null,
      toolSet: null,
    };
  const sent = Math.max(0, set.tokens - (request.report.estimatedTools ?? 0));
  const tokens = Math.min(Math.round(sent * ratio), input);
  return {
    toolResults,
    toolDefinitionTokens: tokens,
    costToolDefinitionsNanoUsd: costOf(tokens),
    toolSet: set,
  };
}

interface ToolCounts {
  readonly calls: Set<unknown>;
  readonly failed: Set<unknown>;
  tokens: number;
  sentTokens: number;
}

/**
 * In the order of their first results. A result may be several blocks, and its images have no
 * tokens here.
 */
function newResults(request: ProxyRequest, ratio: number): readonly ToolResults[] {
  const blocks = request.original.blocks();
  const tools = new Map<string, ToolCounts>();
  for (let at = firstNew(blocks); at < blocks.length; at += 1) {
    const block = blocks[at]!;
    if (block.role !== 'tool') continue;
    const name = block.toolName === undefined ? UNKNOWN_TOOL : toolName(block.toolName);
    const key = tools.has(name) || tools.size < MAX_TOOLS - 1 ? name : OTHER_TOOLS;
    const figures = tools.get(key) ?? {
      calls: new Set(),
      failed: new Set(),
      tokens: 0,
      sentTokens: 0,
    };
    tools.set(key, figures);
    const call = block.toolUseId ?? `message ${block.message}`;
    figures.calls.add(call);
    if (block.isError === true) figures.failed.add(call);
    const text = textOf(request, block);
    const tokens = estimateTokens(block.text);
    figures.tokens += tokens;
    figures.sentTokens += text === block.text ? tokens : estimateTokens(text);
  }
  return [...tools].map(([tool, { calls, failed, tokens, sentTokens }]) => ({
    tool,
    calls: calls.size,
    failed: failed.size,
    tokens: Math.round(tokens * ratio),
    sentTokens: Math.round(sentTokens * ratio),
  }));
}

function firstNew(blocks: ReturnType<ProxyRequest['original']['blocks']>): number {
  return 1 + blocks.findLastIndex(({ role }) => role === 'assistant');
}
