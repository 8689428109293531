/**
 * The results that a conversation leaves out from a cold moment on. The record is durable, and
 * every later turn repeats the markers byte for byte, even after a restart or with the setting off
 * by then; if the record cannot be read, the originals are sent.
 */
import type { Memory } from '../../../conversations/memory.ts';
import type { LeftOut } from '../../../conversations/record.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { resultKeys } from '../../pass/result-keys.ts';
import type { Forgettable } from './forgettable.ts';

/**
 * Returns the blocks; forgotten ones carry the marker sent in their place and the tokens it saves.
 */
export function withForgotten(
  blocks: readonly ConversationBlock[],
  { record: { leftOut: kept } }: Memory,
): readonly ConversationBlock[] {
  if (kept.size === 0) return blocks;
  const keys = resultKeys(blocks);
  return blocks.map((block, at) => withMarker(block, kept.get(keys[at] ?? '')));
}

/** Returns the blocks with `more` left out as well; records nothing. */
export function withForgettable(
  blocks: readonly ConversationBlock[],
  more: readonly Forgettable[],
): readonly ConversationBlock[] {
  const found = new Map(more.map((one) => [one.block, one]));
  return blocks.map((block) => withMarker(block, found.get(block)));
}

function withMarker(block: ConversationBlock, kept: LeftOut | undefined): ConversationBlock {
  return kept === undefined
    ? block
    : { ...block, forgotten: kept.line, tokensForgotten: kept.tokens };
}

/** Records every forgotten block of `blocks`. */
export function rememberForgotten(blocks: readonly ConversationBlock[], memory: Memory): void {
  const keys = resultKeys(blocks);
  const more = blocks.flatMap(({ forgotten, tokensForgotten = 0 }, at) => {
    const key = keys[at];
    if (key === undefined || forgotten === undefined || memory.record.leftOut.has(key)) return [];
    return [[key, forgotten, tokensForgotten] as const];
  });
  if (more.length > 0) memory.set({ leftOut: more });
}
