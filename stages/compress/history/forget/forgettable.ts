/**
 * Which tool results may be left out once the provider's cache has expired: old, long ones that can
 * be produced again, never an error, and never one whose file was written to since, or whose later
 * read the client reports as "unchanged" instead of resending it. The caller decides whether the
 * cache has expired.
 */
import { fetchMark } from '../../fetch/mark.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { isPlainResult, type ConversationBlock } from '../../pass/blocks.ts';
import { MARK } from '../../text/marker.ts';
import type { JobOutcome } from '../../worker/job.ts';
import { fileNamesOf, fileWritesOf } from './file-writes.ts';
import { lastPointers } from './pointers.ts';
import { isRepeatable } from './repeatable.ts';

/** Model responses that must follow a result before it may be left out. */
const MIN_TURNS = 10;
/** Results shorter than this in their compressed form stay. */
const MIN_TOKENS = 200;
/** Characters of the call's input that the marker repeats. */
const INPUT_CHARS = 200;

/** A result that may be left out. */
export interface Forgettable {
  readonly block: ConversationBlock;
  /** The marker sent in its place. */
  readonly line: string;
  /** Tokens that the result would take otherwise. */
  readonly tokens: number;
}

/** Returns those of `blocks` that may be left out; `outcomes` are their compressed forms. */
export function forgettableResults(
  blocks: readonly ConversationBlock[],
  outcomes: readonly Pick<JobOutcome, 'tokensAfter'>[],
): readonly Forgettable[] {
  const end = countOldBlocks(blocks);
  const writes = fileWritesOf(blocks);
  const pointedAfter = lastPointers(blocks);
  return blocks.slice(0, end).flatMap((block, at) => {
    const tokens = outcomes[at]?.tokensAfter ?? 0;
    if (tokens <= MIN_TOKENS || !isForgettable(block)) return [];
    const isPointedTo = (name: string): boolean => (pointedAfter.get(name) ?? -1) > at;
    if (writes.isWrittenAfter(at, block) || fileNamesOf(block).some(isPointedTo)) return [];
    const { fetchTool } = block;
    const mark = fetchTool === undefined ? '' : `\n${fetchMark(fetchTool, block.text)}`;
    const marker = markerFor(block) + mark;
    return estimateTokens(marker) < tokens ? [{ block, line: marker, tokens }] : [];
  });
}

function isForgettable(block: ConversationBlock): boolean {
  const { forgotten, pointerText } = block;
  if (!isPlainResult(block) || forgotten !== undefined || pointerText !== undefined) return false;
  return isRepeatable(block);
}

/** Returns how many leading blocks are followed by enough model responses. */
function countOldBlocks(blocks: readonly ConversationBlock[]): number {
  let turns = 0;
  for (let at = blocks.length - 1; at >= 0; at--) {
    const isAnswer = blocks[at]!.role === 'assistant';
    if (!isAnswer && turns >= MIN_TURNS) return at + 1;
    if (isAnswer && blocks[at - 1]?.role !== 'assistant') turns++;
  }
  return 0;
}

/**
 * `[svc left out an old result: Read {"file_path":"a.ts"}, 312 lines, 4120 tokens; call it again if
 * you need it]`
 */
function markerFor({ text, toolName, toolInput }: ConversationBlock): string {
  const inputText = JSON.stringify(toolInput) ?? '';
  const input =
    inputText.length > INPUT_CHARS ? `${inputText.slice(0, INPUT_CHARS - 1)}…` : inputText;
  const lines = text.split('\n').length;
  const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${estimateTokens(text)} tokens`;
  return `${MARK}left out an old result: ${toolName ?? 'tool'} ${input}, ${size}; call it again if you need it]`;
}
