/**
 * Records kept with a conversation so that a busy machine changes no byte that the provider has
 * already cached: how far it was sent, and which blocks were sent unchanged because time ran out
 * before they were decided, or their language could not be parsed.
 */
import type { Memory } from '../../conversations/memory.ts';
import { blockMark, endMark } from '../../conversations/end-mark.ts';
import type { ConversationBlock } from './blocks.ts';

/** Why a block is sent unchanged: time ran out before it was decided, now or in an earlier turn. */
export const TIMED_OUT = 'timed-out';
/** Why a block is sent unchanged: a resource needed to decide it was unavailable. */
export const UNDECIDED = 'undecided';

/** Returns the blocks, protecting those that were sent undecided in an earlier turn. */
export function protectUndecided(
  { record: { timedOut: known } }: Memory,
  blocks: readonly ConversationBlock[],
): readonly ConversationBlock[] {
  if (known.size === 0) return blocks;
  return blocks.map((block) => {
    if (!mayShrink(block)) return block;
    const mark = blockMark(block);
    if (known.has(mark)) return asUndecided(block, TIMED_OUT);
    return known.has(unparsedMark(mark)) ? asUndecided(block, UNDECIDED) : block;
  });
}

/** Protects a block that could not be decided, in time or at all. */
export function asUndecided(
  block: ConversationBlock,
  because: typeof TIMED_OUT | typeof UNDECIDED,
): ConversationBlock {
  return block.protectedReason === undefined ? { ...block, protectedReason: because } : block;
}

/** Returns the mark under which an unparsable block is recorded, distinct from a timed-out one. */
function unparsedMark(mark: string): string {
  return `${mark}!`;
}

/**
 * Records the blocks that were sent unchanged because time ran out, or because they could not be
 * parsed.
 */
export function rememberUndecided(
  memory: Memory,
  timedOut: readonly ConversationBlock[],
  unread: readonly ConversationBlock[],
): void {
  const more = [
    ...timedOut.filter(mayShrink).map(blockMark),
    ...unread.filter(mayShrink).map((block) => unparsedMark(blockMark(block))),
  ].filter((mark) => !memory.record.timedOut.has(mark));
  if (more.length > 0) memory.set({ timedOut: more });
}

/** Records that all of `blocks` were sent. */
export function rememberSent(memory: Memory, blocks: readonly ConversationBlock[]): void {
  const last = blocks.at(-1);
  const { pin } = memory.record;
  if (last === undefined || pin === undefined) return;
  const sent = { blocks: blocks.length, last: endMark(last) };
  if (pin.sent?.blocks !== sent.blocks || pin.sent.last !== sent.last)
    memory.set({ pin: { ...pin, sent } });
}

/**
 * Returns how many of the blocks were sent in an earlier turn. Where the conversation has since
 * branched, all up to the model's last response count as sent.
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
