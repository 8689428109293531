/**
 * What goes out for each text, against what came in: smaller, never empty, nothing made up,
 * and by its class the same values, the same code, the same settings. The encodings are
 * undone here and judged by other readers than those that made them.
 */
import {
  compareCode,
  loadCodeReader,
  type CodeReader,
} from '../../../bench/quality/code-tokens.ts';
import { compareConfig } from '../../../bench/quality/config-readers.ts';
import { compareJson } from '../../../bench/quality/json-values.ts';
import { keptLines, knownLines } from '../../../bench/quality/kept-lines.ts';
import { openEnvelope } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import { guessExtension } from '../code/strip-code.ts';
import { CODE_EXTENSIONS } from '../code/code-tools.ts';
import type { CommentLines } from '../rule.ts';
import {
  compressConversation,
  emptyState,
  type BlockOutcome,
} from '../conversation/conversation.ts';
import type { ConversationBlock } from '../conversation/blocks.ts';
import { loadCodeTools } from '../testing.ts';
import type { JobOptions } from '../worker/job.ts';
import { decodeJson } from '../json/decode.ts';
import { decodeJsonWithin, jsonWithin } from '../json/within.ts';
import { splitPasted } from '../conversation/user-text.ts';

/** How many texts, and parts of them, each proof was held against. */
export type TextCounts = Record<
  | 'changed'
  | 'lines'
  | 'json'
  | 'numbers'
  | 'code'
  | 'declarations'
  | 'toml'
  | 'yaml'
  | 'ini'
  | 'config no reader knows',
  number
>;

export function noTexts(): TextCounts {
  return {
    changed: 0,
    lines: 0,
    json: 0,
    numbers: 0,
    code: 0,
    declarations: 0,
    toml: 0,
    yaml: 0,
    ini: 0,
    'config no reader knows': 0,
  };
}

export interface TextChecks {
  /**
   * Compresses the blocks once more, in this thread and from nothing, and judges every
   * outcome. `sent` has what the stage made of each block, by index.
   */
  check(
    blocks: readonly ConversationBlock[],
    options: JobOptions,
    sent: (index: number) => string | undefined,
    counts: TextCounts,
  ): readonly string[];
}

export async function createTextChecks(): Promise<TextChecks> {
  const commentLines = await loadCodeTools(CODE_EXTENSIONS);
  const readCode = await loadCodeReader();
  return {
    check: (blocks, options, sent, counts) =>
      checkBlocks(blocks, { ...options, ...touchesCode(options, commentLines) }, sent, {
        counts,
        readCode,
      }),
  };
}

function touchesCode({ mode }: JobOptions, commentLines: CommentLines) {
  return mode === 'aggressive' ? { commentLines } : {};
}

interface Tools {
  readonly counts: TextCounts;
  readonly readCode: CodeReader;
}

function checkBlocks(
  blocks: readonly ConversationBlock[],
  options: Parameters<typeof compressConversation>[1],
  sent: (index: number) => string | undefined,
  tools: Tools,
): readonly string[] {
  const state = emptyState();
  const outcomes = compressConversation(blocks, options, undefined, state);
  return outcomes.flatMap((outcome, at) => {
    const before = blocks[at]!.text;
    const faults = (outcome.failed ?? []).map((name) => `${name} failed`);
    if (sent(outcome.index) !== outcome.text)
      faults.push('the stage sends other bytes than its algorithms give');
    if (outcome.changed) {
      tools.counts.changed += 1;
      faults.push(...sizeFaults(before, outcome.text));
      const kept = keptLines(outcome, state, blocks[at]!);
      tools.counts.lines += kept.length;
      const isKnown = knownLines(before, outcome.by, options.maxChars);
      const strange = kept.find((line) => !isKnown(line));
      if (strange !== undefined) faults.push(`made up: ${JSON.stringify(strange.slice(0, 120))}`);
      const whole = state.sent.restore(outcome.text);
      faults.push(...classFaults(blocks[at]!, outcome, whole, tools));
    }
    return faults.map((fault) => `block ${outcome.index}: ${fault} (${outcome.by.join(', ')})`);
  });
}

function sizeFaults(before: string, after: string): readonly string[] {
  const faults: string[] = [];
  const [was, is] = [before, after].map((text) => Buffer.byteLength(text));
  if (is! > was!) faults.push(`${was} bytes became ${is}`);
  const tokens = [before, after].map(estimateTokens);
  if (tokens[1]! > tokens[0]!) faults.push(`${tokens[0]} tokens became ${tokens[1]}`);
  if (after.trim() === '' && before.trim() !== '') faults.push('nothing is left');
  return faults;
}

function classFaults(
  block: ConversationBlock,
  { classification, by }: BlockOutcome,
  whole: string,
  { counts, readCode }: Tools,
): readonly string[] {
  const before = partOf(block, block.text);
  const after = partOf(block, whole);
  if (by.every((name) => name === 'repeats' || name === 'gutter'))
    return before === after ? [] : ['references do not lead back to the text'];
  switch (classification?.kind) {
    case 'json': {
      const decoded = decodeJson(after) ?? decodeJsonWithin(after) ?? after;
      const { faults, numbers } = compareJson(documentOf(before), documentOf(decoded));
      counts.json += 1;
      counts.numbers += numbers;
      return faults.map((fault) => `JSON: ${fault}`);
    }
    case 'code': {
      const extension = classification.extension ?? guessExtension(before) ?? '';
      const { faults, declarations } = compareCode(readCode, before, after, extension);
      counts.code += 1;
      counts.declarations += declarations;
      return faults;
    }
    case 'config': {
      const { formats, faults } = compareConfig(before, after);
      for (const format of formats) counts[format] += 1;
      if (formats.length === 0) counts['config no reader knows'] += 1;
      return faults;
    }
    default:
      return [];
  }
}

const documentOf = (text: string): string => jsonWithin(text)?.document ?? text;

/** What the algorithms of a class see of a block's text. */
function partOf(block: ConversationBlock, text: string): string {
  return openEnvelope(block.kind === 'tool_result' ? text : splitPasted(text).pasted).body;
}
