/**
 * Results in which the client says that an earlier result of the same call still holds, instead of
 * repeating its text. The text they point to must be in the conversation.
 */
import type { ConversationBlock } from '../../pass/blocks.ts';
import type { LimitedOutcomes } from '../../pass/within-limit.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { fileNamesOf } from './file-writes.ts';

/** Claude Code's wording for a file that it has read before. */
const POINTER_TEXT =
  /^(?:File unchanged since last read|Wasted call . file unchanged since your last Read|<system-reminder>\s*This file is already in your context)/;

const isPointer = ({ kind, text }: ConversationBlock): boolean =>
  kind === 'tool_result' && POINTER_TEXT.test(text);

/** Maps each file name that a pointer refers to to the index of the last pointer to it. */
export function lastPointers(blocks: readonly ConversationBlock[]): ReadonlyMap<string, number> {
  return new Map(
    blocks.flatMap((block, at) =>
      isPointer(block) ? fileNamesOf(block).map((name) => [name, at] as const) : [],
    ),
  );
}

/** Returns the blocks; pointers to a forgotten result get that result's text. */
export function withPointersResolved(
  blocks: readonly ConversationBlock[],
): readonly ConversationBlock[] {
  if (!blocks.some(({ forgotten }) => forgotten !== undefined) || !blocks.some(isPointer))
    return blocks;
  return blocks.map((block, at) => {
    const text = isPointer(block) ? forgottenTextOf(block, blocks.slice(0, at)) : undefined;
    return text === undefined ? block : { ...block, text, pointerText: block.text };
  });
}

/**
 * Returns the text of the newest result of the same call if that was forgotten, otherwise
 * undefined.
 */
function forgottenTextOf(
  { toolName, toolInput }: ConversationBlock,
  before: readonly ConversationBlock[],
): string | undefined {
  const call = JSON.stringify(toolInput);
  const found = before.findLast(
    (one) =>
      one.kind === 'tool_result' &&
      one.toolName === toolName &&
      JSON.stringify(one.toolInput) === call &&
      !isPointer(one),
  );
  return found?.forgotten === undefined ? undefined : found.text;
}

/** Returns the outcomes; a pointer replaced by the full text counts as changed. */
export function withResolvedAsChanged<T extends LimitedOutcomes>(
  blocks: readonly ConversationBlock[],
  result: T,
): T {
  if (!blocks.some(({ pointerText }) => pointerText !== undefined)) return result;
  const outcomes = result.outcomes.map((outcome, at) => {
    const { pointerText, text } = blocks[at]!;
    if (pointerText === undefined) return outcome;
    const { reason: _, ...rest } = outcome;
    return {
      ...rest,
      text: outcome.text ?? text,
      changed: true,
      by: ['forgetting', ...outcome.by],
      tokensBefore: estimateTokens(pointerText),
    };
  });
  return { ...result, outcomes };
}
