/**
 * Compresses a conversation in which some blocks must be sent again as they were
 * (`conversations/sending-rules.ts`). Recomputing usually gives the same bytes, and only that is
 * checked. Where it does not, because a setting, a recipe or the program has changed, these blocks
 * are repeated and the new ones are compressed against what was really sent.
 */
import type { SendingRules } from '../../conversations/sending-rules.ts';
import type { ConversationBlock } from './blocks.ts';
import { compressForgetting } from '../history/forget/compress-forgetting.ts';
import type { ForgettingOutcomes } from '../history/forget/compress-forgetting.ts';
import type { WithinLimit } from './within-limit.ts';

/** `isCold`: whether more may be left out now. */
export async function compressWithFixedBlocks(
  all: readonly ConversationBlock[],
  sendingRules: SendingRules,
  limits: WithinLimit,
  isCold: boolean,
): Promise<ForgettingOutcomes> {
  if (!sendingRules.isBound) return compressForgetting(all, limits, isCold);
  const { memory } = limits;
  // In a conversation seen for the first time, blocks before the last thought are unknown and need
  // not be computed.
  if (memory.isNew) memory.repeated = Math.max(memory.repeated, sendingRules.lastThought);
  const made = await compressForgetting(
    withSentTexts(all, sendingRules, memory.repeated),
    limits,
    false,
  );
  const isAllowed = made.outcomes.every(({ text }, at) => {
    const block = all[at]!;
    return (
      block.protectedReason !== undefined || sendingRules.allows(block.index, text ?? block.text)
    );
  });
  if (isAllowed) return made;
  const fixed = all.findLastIndex(({ index }) => sendingRules.ruleOf(index) !== 'free');
  memory.repeated = all[fixed]!.index + 1;
  return compressForgetting(withSentTexts(all, sendingRules, memory.repeated), limits, false);
}

/** Returns the blocks; those before index `end` carry the text they must be sent with. */
function withSentTexts(
  all: readonly ConversationBlock[],
  sendingRules: SendingRules,
  end: number,
): readonly ConversationBlock[] {
  if (end === 0) return all;
  return all.map((block) => {
    const { index, kind, protectedReason } = block;
    const isOpen = kind === 'tool_result' || kind === 'user_text';
    if (index >= end || protectedReason !== undefined || !isOpen) return block;
    const sentAs = sendingRules.fixedText(index);
    return sentAs === undefined ? block : { ...block, sentAs };
  });
}
