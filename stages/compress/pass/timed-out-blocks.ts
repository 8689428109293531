/**
 * What is remembered of a conversation so that a busy machine changes no byte that the
 * provider has already cached: how far it was sent, and which blocks went out as they
 * were because time ran out before they were decided, or their language could not be read.
 */
import type { Memory } from '../../conversations/conversations.ts';
import { blockMark, endMark } from '../../conversations/end-mark.ts';
import type { ConversationBlock } from './blocks.ts';

/** Why a block goes out as it came: time ran out before it was decided, now or in an earlier turn. */
export const TIMED_OUT = 'timed-out';
/** The same, where what it is to be decided with could not be had. */
export const UNDECIDED = 'undecided';

/** The blocks with those protected that went out undecided in an earlier turn. */
export function withoutUndecided(
  { record: { timedOut: known } }: Memory,
  blocks: readonly ConversationBlock[],
): readonly ConversationBlock[] {
  if (known.size === 0) return blocks;
  return blocks.map((block) => {
    if (!mayShrink(block)) return block;
    const mark = blockMark(block);
    if (known.has(mark)) return asItIs(block, TIMED_OUT);
    return known.has(unreadMark(mark)) ? asItIs(block, UNDECIDED) : block;
  });
}

/** The block, protected because it could not be decided, in time or at all. */
export function asItIs(
  block: ConversationBlock,
  because: typeof TIMED_OUT | typeof UNDECIDED,
): ConversationBlock {
  return block.protectedReason === undefined ? { ...block, protectedReason: because } : block;
}

/** How a block is remembered that time did not end. */
function unreadMark(mark: string): string {
  return `${mark}!`;
}

/** Remembers which blocks went out as they were: those that time ran out for, and those that could not be read. */
export function rememberUndecided(
  memory: Memory,
  timedOut: readonly ConversationBlock[],
  unread: readonly ConversationBlock[],
): void {
  const more = [
    ...timedOut.filter(mayShrink).map(blockMark),
    ...unread.filter(mayShrink).map((block) => unreadMark(blockMark(block))),
  ].filter((mark) => !memory.record.timedOut.has(mark));
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
