/**
 * What a conversation's requests leave out from a cold moment on. It is kept durably and repeated
 * byte for byte in every later turn, also after a restart and where the setting is off by then;
 * where it cannot be read, the originals go out.
 */
import type { Memory } from '../../../conversations/conversations.ts';
import type { LeftOut } from '../../../conversations/record.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { resultKeys } from '../../pass/result-keys.ts';
import type { Forgettable } from './forgettable.ts';

/** The blocks with what goes out in place of those that were forgotten, and the tokens that this saves. */
export function withForgotten(
  blocks: readonly ConversationBlock[],
  { record: { leftOut: kept } }: Memory,
): readonly ConversationBlock[] {
  if (kept.size === 0) return blocks;
  const keys = resultKeys(blocks);
  return blocks.map((block, at) => withLine(block, kept.get(keys[at] ?? '')));
}

/** The same without a record: `more` is left out as well. */
export function leavingOut(
  blocks: readonly ConversationBlock[],
  more: readonly Forgettable[],
): readonly ConversationBlock[] {
  const found = new Map(more.map((one) => [one.block, one]));
  return blocks.map((block) => withLine(block, found.get(block)));
}

function withLine(block: ConversationBlock, kept: LeftOut | undefined): ConversationBlock {
  return kept === undefined
    ? block
    : { ...block, forgotten: kept.line, tokensForgotten: kept.tokens };
}

/** Remembers all of `blocks` that are forgotten. */
export function rememberForgotten(blocks: readonly ConversationBlock[], memory: Memory): void {
  const keys = resultKeys(blocks);
  const more = blocks.flatMap(({ forgotten, tokensForgotten = 0 }, at) => {
    const key = keys[at];
    if (key === undefined || forgotten === undefined || memory.record.leftOut.has(key)) return [];
    return [[key, forgotten, tokensForgotten] as const];
  });
  if (more.length > 0) memory.set({ leftOut: more });
}
