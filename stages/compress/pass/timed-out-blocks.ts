/**
 * What is remembered of a conversation so that a busy machine changes no byte that the
 * provider has already cached: how far it was sent, and which blocks went out as they
 * were because time ran out before they were decided, or their language could not be read.
 */
import type { Memory } from '../../conversations/conversations.ts';
import { blockMark, endMark } from '../../conversations/end-mark.ts';
import type { ConversationBlock } from './blocks.ts';

/** The blocks with those protected that went out undecided in an earlier turn. */
export function withoutUndecided(
  { record: { timedOut: known } }: Memory,
  blocks: readonly ConversationBlock[],
): readonly ConversationBlock[] {
  if (known.size === 0) return blocks;
  return blocks.map((block) =>
    mayShrink(block) && known.has(blockMark(block)) ? asItIs(block) : block,
  );
}

/** The block, protected because it could not be decided, in time or at all. */
export function asItIs(block: ConversationBlock): ConversationBlock {
  return block.protectedReason === undefined ? { ...block, protectedReason: 'undecided' } : block;
}

/** Remembers that `blocks` went out undecided, as they were. */
export function rememberUndecided(memory: Memory, blocks: readonly ConversationBlock[]): void {
  const more = blocks
    .filter(mayShrink)
    .map(blockMark)
    .filter((mark) => !memory.record.timedOut.has(mark));
  if (more.length > 0) memory.set({ timedOut: more });
}

/** Remembers that all of `blocks` went out. */
export function rememberSent(memory: Memory, blocks: readonly ConversationBlock[]): void {
  const last = blocks.at(-1);
  const { pin } = memory.record;
  if (last === undefined || pin === undefined) return;
  const sent = { blocks: blocks.length, last: endMark(last) };
  if (pin.sent?.blocks !== sent.blocks || pin.sent.last !== sent.last)
    memory.set({ pin: { ...pin, sent } });
}

/**
 * How many of the blocks went out in an earlier turn. Where the conversation has gone
 * another way since, all up to the model's last answer count as sent.
 */
export function sentCount(
  { record: { pin } }: Memory,
  blocks: readonly ConversationBlock[],
): number {
  const sent = pin?.sent;
  if (sent === undefined) return 0;
  const last = blocks[sent.blocks - 1];
  if (last !== undefined && endMark(last) === sent.last) return sent.blocks;
  return blocks.findLastIndex((block) => block.role === 'assistant') + 1;
}

function mayShrink({ kind, protectedReason, forgotten, sentAs }: ConversationBlock): boolean {
  if (forgotten !== undefined || sentAs !== undefined) return false;
  return protectedReason === undefined && (kind === 'tool_result' || kind === 'user_text');
}
