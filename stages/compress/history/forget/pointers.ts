/**
 * Results in which a client says that an earlier one of the same call still holds, in place of the text.
 * What they point to must be there.
 */
import type { ConversationBlock } from '../../pass/blocks.ts';
import type { LimitedOutcomes } from '../../pass/within-limit.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { namedBy } from './edited.ts';

/** As Claude Code words it, of a file that it has read before. */
const POINTS =
  /^(?:File unchanged since last read|Wasted call . file unchanged since your last Read|<system-reminder>\s*This file is already in your context)/;

const isPointer = ({ kind, text }: ConversationBlock): boolean =>
  kind === 'tool_result' && POINTS.test(text);

/** The files of which a later result says that they are there, by name, with the number of the last such result. */
export function pointedTo(blocks: readonly ConversationBlock[]): ReadonlyMap<string, number> {
  return new Map(
    blocks.flatMap((block, at) =>
      isPointer(block) ? namedBy(block).map((name) => [name, at] as const) : [],
    ),
  );
}

/** The blocks, with the text of what was left out in those that point to it. */
export function withPointedTo(blocks: readonly ConversationBlock[]): readonly ConversationBlock[] {
  if (!blocks.some(({ forgotten }) => forgotten !== undefined) || !blocks.some(isPointer))
    return blocks;
  return blocks.map((block, at) => {
    const text = isPointer(block) ? forgottenTextOf(block, blocks.slice(0, at)) : undefined;
    return text === undefined ? block : { ...block, text, pointed: block.text };
  });
}

/** Of the newest result of the same call, where that is left out. */
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

/** The outcomes, where the text that stands for a pointer counts as a change of it. */
export function outcomesOfPointed<T extends LimitedOutcomes>(
  blocks: readonly ConversationBlock[],
  result: T,
): T {
  if (!blocks.some(({ pointed }) => pointed !== undefined)) return result;
  const outcomes = result.outcomes.map((outcome, at) => {
    const { pointed, text } = blocks[at]!;
    if (pointed === undefined) return outcome;
    const { reason: _, ...rest } = outcome;
    return {
      ...rest,
      text: outcome.text ?? text,
      changed: true,
      by: ['forgetting', ...outcome.by],
      tokensBefore: estimateTokens(pointed),
    };
  });
  return { ...result, outcomes };
}
