/**
 * Which results of tools may be left out at a moment when the provider's cache has run out: old
 * and long ones that can be had again, never an error, and nothing of a file that was written to
 * since, or that the client calls unchanged instead of sending it again. Whether the moment is one is not decided here.
 */
import { fetchMark } from '../../fetch/mark.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { isPlainResult, type ConversationBlock } from '../../pass/blocks.ts';
import { MARK } from '../../text/marker.ts';
import type { JobOutcome } from '../../worker/job.ts';
import { namedBy, writesOf } from './edited.ts';
import { pointedTo } from './pointers.ts';
import { canBeCalledAgain } from './repeatable.ts';

/** Answers of the model that must lie behind a result. */
const LEAST_TURNS = 10;
/** Shorter results, as they would go out, stay. */
const LEAST_TOKENS = 200;
/** Characters of a call's input that the line repeats. */
const INPUT_CHARS = 200;

/** A result that may go. */
export interface Forgettable {
  readonly block: ConversationBlock;
  /** What goes out in its place. */
  readonly line: string;
  /** Tokens of what would go out otherwise. */
  readonly tokens: number;
}

/** Those of `blocks` that may go, where they would go out as `outcomes` says. */
export function forgettable(
  blocks: readonly ConversationBlock[],
  outcomes: readonly Pick<JobOutcome, 'tokensAfter'>[],
): readonly Forgettable[] {
  const end = oldEnough(blocks);
  const writes = writesOf(blocks);
  const pointedAfter = pointedTo(blocks);
  return blocks.slice(0, end).flatMap((block, at) => {
    const tokens = outcomes[at]?.tokensAfter ?? 0;
    if (tokens <= LEAST_TOKENS || !mayGo(block)) return [];
    const isPointedTo = (name: string): boolean => (pointedAfter.get(name) ?? -1) > at;
    if (writes.isSince(at, block) || namedBy(block).some(isPointedTo)) return [];
    const { fetchTool } = block;
    const mark = fetchTool === undefined ? '' : `\n${fetchMark(fetchTool, block.text)}`;
    const line = forgottenLine(block) + mark;
    return estimateTokens(line) < tokens ? [{ block, line, tokens }] : [];
  });
}

function mayGo(block: ConversationBlock): boolean {
  const { forgotten, pointed } = block;
  if (!isPlainResult(block) || forgotten !== undefined || pointed !== undefined) return false;
  return canBeCalledAgain(block);
}

/** The number of blocks behind which the model has answered often enough. */
function oldEnough(blocks: readonly ConversationBlock[]): number {
  let turns = 0;
  for (let at = blocks.length - 1; at >= 0; at--) {
    const isAnswer = blocks[at]!.role === 'assistant';
    if (!isAnswer && turns >= LEAST_TURNS) return at + 1;
    if (isAnswer && blocks[at - 1]?.role !== 'assistant') turns++;
  }
  return 0;
}

/** `[svc left out an old result: Read {"file_path":"a.ts"}, 312 lines, 4120 tokens; call it again if you need it]` */
function forgottenLine({ text, toolName, toolInput }: ConversationBlock): string {
  const whole = JSON.stringify(toolInput) ?? '';
  const input = whole.length > INPUT_CHARS ? `${whole.slice(0, INPUT_CHARS - 1)}…` : whole;
  const lines = text.split('\n').length;
  const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${estimateTokens(text)} tokens`;
  return `${MARK}left out an old result: ${toolName ?? 'tool'} ${input}, ${size}; call it again if you need it]`;
}
