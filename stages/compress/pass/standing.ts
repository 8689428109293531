/**
 * Compresses a conversation in which some blocks stand as they were sent (`conversations/standing.ts`).
 * As a rule computing gives the same again, and only that is looked at; where it does not, because a
 * setting, a recipe or the program is another one by now, these blocks are repeated, and the new ones
 * are made of what is really there.
 */
import type { Standing } from '../../conversations/standing.ts';
import type { ConversationBlock } from './blocks.ts';
import { compressForgetting } from '../history/forget/at-cold-moment.ts';
import type { ForgettingOutcomes } from '../history/forget/at-cold-moment.ts';
import type { WithinLimit } from './within-limit.ts';

/** `isCold`: whether more may be left out now. */
export async function compressStanding(
  all: readonly ConversationBlock[],
  standing: Standing,
  limits: WithinLimit,
  isCold: boolean,
): Promise<ForgettingOutcomes> {
  if (!standing.isBound) return compressForgetting(all, limits, isCold);
  const { memory } = limits;
  // At first sight nothing is known of what stands before the last thought: nothing of it need be computed.
  if (memory.isNew) memory.repeated = Math.max(memory.repeated, standing.lastThought);
  const made = await compressForgetting(
    withRepeated(all, standing, memory.repeated),
    limits,
    false,
  );
  const isAllowed = made.outcomes.every(({ text }, at) => {
    const block = all[at]!;
    return block.protectedReason !== undefined || standing.allows(block.index, text ?? block.text);
  });
  if (isAllowed) return made;
  const fixed = all.findLastIndex(({ index }) => standing.standOf(index) !== 'free');
  memory.repeated = all[fixed]!.index + 1;
  return compressForgetting(withRepeated(all, standing, memory.repeated), limits, false);
}

/** The blocks before number `end` of the request with what they must go out as. */
function withRepeated(
  all: readonly ConversationBlock[],
  standing: Standing,
  end: number,
): readonly ConversationBlock[] {
  if (end === 0) return all;
  return all.map((block) => {
    const { index, kind, protectedReason } = block;
    const isOpen = kind === 'tool_result' || kind === 'user_text';
    if (index >= end || protectedReason !== undefined || !isOpen) return block;
    const sentAs = standing.fixedText(index);
    return sentAs === undefined ? block : { ...block, sentAs };
  });
}
