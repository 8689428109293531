/**
 * Which blocks of a conversation name the tool that fetches them whole. A client may gain the tool
 * mid-conversation (MCP servers connect when they are ready) or lose it. What was sent must not
 * change, so the conversation records from which block on which tool is named.
 */
import type { Memory } from '../../conversations/memory.ts';
import type { FetchTurn } from '../../conversations/record.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { fetchToolIn, isFetchTool } from '../../originals/fetch-tool.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import { runsModel } from '../pass/skip-reasons.ts';
import { sentCount } from '../pass/timed-out-blocks.ts';

/** Maximum number of tool changes per conversation; after that blocks no longer name the tool. */
const MAX_TURNS = 8;

/**
 * Returns the blocks, each with the fetch tool it may name; results of the tool itself stay
 * unchanged.
 */
export function withFetchTool(
  blocks: readonly ConversationBlock[],
  request: ProxyRequest,
  memory: Memory,
): readonly ConversationBlock[] {
  const turns = turnsOf(blocks, request, memory);
  return turns.length === 0 ? blocks : withFetchedProtected(blocks, turns);
}

/** Does the same for a conversation that begins with this request. */
export function withFetchToolAtStart(
  blocks: readonly ConversationBlock[],
  body: unknown,
): readonly ConversationBlock[] {
  const tool = fetchToolIn(body);
  return tool === undefined ? blocks : withFetchedProtected(blocks, [{ from: 0, tool }]);
}

function turnsOf(
  blocks: readonly ConversationBlock[],
  request: ProxyRequest,
  memory: Memory,
): readonly FetchTurn[] {
  const { pin } = memory.record;
  const before = pin?.fetch ?? [];
  // Other operations on a conversation, such as counting tokens, need not declare its tools.
  if (pin === undefined || !runsModel(request)) return before;
  const known = before.at(-1)?.tool ?? null;
  const has = fetchToolIn(request.original.json) ?? null;
  const tool = before.length < MAX_TURNS ? has : null;
  if (tool === known) return before;
  const turns = [...before, { from: sentCount(memory, blocks), tool }];
  memory.set({ pin: { ...pin, fetch: turns } });
  return turns;
}

function withFetchedProtected(
  blocks: readonly ConversationBlock[],
  turns: readonly FetchTurn[],
): readonly ConversationBlock[] {
  const tools = new Set(turns.flatMap(({ tool }) => tool ?? []));
  return blocks.map((block, at) => {
    if (block.kind !== 'tool_result' || block.protectedReason !== undefined) return block;
    if ([...tools].some((tool) => isFetchTool(tool, block.toolName)))
      return { ...block, protectedReason: 'fetched' };
    const tool = turns.findLast(({ from }) => from <= at)?.tool ?? null;
    return tool === null ? block : { ...block, fetchTool: tool };
  });
}
