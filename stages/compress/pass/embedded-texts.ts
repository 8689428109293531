/**
 * Results that are JSON documents holding texts: each text is compressed by class and sent below
 * the document.
 */
import { expectFrom, type ClassifyHints } from '../../model/classify/hints.ts';
import { estimateTokens } from '../../model/tokens.ts';
import { reportsFailedExit } from '../rules/log/outcome.ts';
import { textsInJson, writeTexts, type EmbeddedText } from '../rules/json/texts.ts';
import type { SentLines } from '../repeats/repeats.ts';
import { originHints } from './block-label.ts';
import type { ConversationBlock } from './blocks.ts';
import type { BlockCache } from './cache.ts';
import { minSaved, rewriteBlock, type BlockContext, type Rewritten } from './rewrite-block.ts';

/** One text of a document, treated as a result of its own. */
export interface EmbeddedPart extends Pick<Rewritten, 'text' | 'removed' | 'by' | 'repeatedLines'> {
  readonly block: ConversationBlock;
  readonly hints: ClassifyHints;
}

/** A document and its original texts. */
export interface EmbeddedTexts {
  readonly frame: string;
  readonly parts: readonly EmbeddedPart[];
}

/**
 * Returns the texts of a result that is little more than a document with texts, with origin
 * `hints`; undefined for any other block. A JSON file that was read stays as it is on disk: an edit
 * has to quote its text exactly.
 */
export function embeddedTexts(
  block: ConversationBlock,
  hints: ClassifyHints,
): EmbeddedTexts | undefined {
  if (block.kind !== 'tool_result' || mayBeFile(hints)) return undefined;
  const found = textsInJson(block.text);
  const isFailed = found !== undefined && reportsFailedExit(found.frame);
  return (
    found && {
      frame: found.frame,
      parts: found.texts.map((one) => partOf(isFailed ? { ...block, isError: true } : block, one)),
    }
  );
}

/**
 * Returns true if the document may itself be a file; a code file is never JSON, so there the client
 * wrapped it.
 */
function mayBeFile(hints: ClassifyHints): boolean {
  const { file, kind } = expectFrom(hints);
  return file === true && (kind === undefined || kind === 'json' || kind === 'config');
}

function partOf(block: ConversationBlock, { text, context }: EmbeddedText): EmbeddedPart {
  const part = { ...block, text, toolInput: inputOf(block, context) };
  return { block: part, hints: originHints(part), text, removed: [], by: [], repeatedLines: 0 };
}

/** The compressed texts of a document. */
export interface RewrittenTexts extends Rewritten {
  readonly parts: readonly EmbeddedPart[];
}

/** Returns the document of `block` with its texts below it; undefined if that saves too little. */
export function rewriteEmbedded(
  block: ConversationBlock,
  { frame, parts }: EmbeddedTexts,
  known: BlockContext,
  cache: BlockCache | undefined,
  sent: SentLines,
): RewrittenTexts | undefined {
  const made = parts.map(
    ({ block: part, hints, text }) =>
      rewriteBlock(part, { ...known, hints }, cache, sent) ?? unchanged(text),
  );
  const text = writeTexts(
    frame,
    made.map((one) => one.text),
  );
  const total = estimateTokens(block.text);
  if (total - estimateTokens(text) < minSaved(total)) return undefined;
  const skipped = made.flatMap((one) => one.skipped ?? []);
  const failed = made.flatMap((one) => one.failed ?? []);
  const leftOut = made.reduce((sum, one) => sum + (one.tokensLeftOut ?? 0), 0);
  return {
    text,
    classification: { kind: 'json' },
    by: [...new Set(['texts', ...made.flatMap((one) => one.by)])],
    removed: [],
    isTried: true,
    repeatedLines: made.reduce((sum, one) => sum + one.repeatedLines, 0),
    labels: new Set(made.flatMap((one) => [...(one.labels ?? [])])),
    ...(leftOut === 0 ? {} : { tokensLeftOut: leftOut }),
    ...(failed.length === 0 ? {} : { failed }),
    ...(skipped.length === 0 ? {} : { skipped }),
    parts: parts.map((part, at) => ({ ...part, ...made[at]! })),
  };
}

function unchanged(text: string): Rewritten {
  const classification = { kind: 'narrative' } as const;
  return { text, classification, by: [], removed: [], isTried: false, repeatedLines: 0 };
}

const SHELL_TOOL = /(?:run|exec|shell|bash|command|terminal)/i;
const READER_TOOL = /(?:read|view|open|cat|fetch)/i;
/** Line range after a file name. */
const LINE_RANGE_SUFFIX = /:\d+(?:-\d+)?$/;

/**
 * Returns the origin of a text: the members beside it, as with several commands, otherwise the
 * call's input.
 */
function inputOf(
  { toolName = '', toolInput }: ConversationBlock,
  beside: EmbeddedText['context'],
): unknown {
  const { query } = beside;
  if (query !== undefined && SHELL_TOOL.test(toolName)) return { command: query };
  if (query !== undefined && READER_TOOL.test(toolName))
    return { path: query.replace(LINE_RANGE_SUFFIX, '') };
  const { command, path } = originHints({ toolInput: beside });
  return command === undefined && path === undefined ? toolInput : beside;
}
