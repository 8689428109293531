/**
 * Rewrites one block that may be changed: the best of what its rules and references to earlier
 * blocks give.
 */
import type { TextClass } from '../../model/classify/classes.ts';
import type { Envelope } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import { builtIn } from '../rules/built-in.ts';
import type { Definitions } from '../rules/code/definitions.ts';
import { shortenLong } from '../history/long/shorten.ts';
import { thinGutter } from '../repeats/gutter.ts';
import { referToRepeats, referToSameText } from '../repeats/refer-to-repeats.ts';
import { isEditResult } from '../repeats/edit-confirmations.ts';
import type { TextWithReferences, SentLines } from '../repeats/repeats.ts';
import { stripBetween } from '../repeats/strip-between.ts';
import { isMentioned } from '../rules/named-lines.ts';
import type { Applied, ApplyContext, Rewriter } from '../rules/rewrite.ts';
import { lineBreaks } from '../text/line-breaks.ts';
import type { ConversationBlock } from './blocks.ts';
import type { BlockCache } from './cache.ts';
import { isHumanAuthored } from './human-authored.ts';
import { isToolOutput, splitPasted } from './user-text.ts';

/** A tool result below this many tokens is left alone, unless it repeats an earlier one. */
const MIN_TOKENS = 60;
/** Texts with more lines are not searched for repeats of earlier text. */
const MAX_LINES = 25_000;

/** A rewritten block. */
export interface Rewritten extends Applied {
  readonly repeatedLines: number;
  readonly labels?: ReadonlySet<string>;
  readonly tokensLeftOut?: number;
}

/** Options of a conversation besides those that rules receive. */
export interface RewriteOptions {
  /** True where prose written or pasted by a user may be shortened too. */
  readonly userProse?: boolean;
  /** True if the provider may forget earlier text: then nothing refers to an earlier block. */
  readonly forgets?: boolean;
  /**
   * A result of more tokens may be sent as an excerpt, if its block says how to request the rest; 0
   * or absent: none.
   */
  readonly longResultsTokens?: number;
  /**
   * Definitions in code, for long results. Whether it is given must not change within a
   * conversation.
   */
  readonly definitions?: Definitions;
  /**
   * The rules to compress with; absent: the built-in ones. Must not change within a conversation.
   */
  readonly rewriter?: Rewriter;
}

/** What is known about a block besides its text and the blocks before it. */
export interface BlockContext extends ApplyContext, RewriteOptions {
  /** True if it is read again because lines were left out. A file is then sent with every line. */
  readonly isAskedAgain?: boolean;
}

/**
 * Returns the shortest of: compressed by class, with or without its repeats replaced by references,
 * or only with its repeats replaced. Returns undefined for a block that stays unchanged. `labels`
 * of the result still have to be introduced in `sent`.
 */
export function rewriteBlock(
  block: ConversationBlock,
  known: BlockContext,
  cache: BlockCache | undefined,
  sent: SentLines,
): Rewritten | undefined {
  const { userProse, forgets, isAskedAgain = false, rewriter = builtIn, ...rest } = known;
  const { prefix, body, suffix } = pastedPart(block);
  if (body === '') return undefined;
  const linesBefore = lineBreaks(prefix);
  const context = { ...rest, linesBefore, linesAfter: lineBreaks(suffix) };
  const small = estimateTokens(body) < MIN_TOKENS;
  if (block.kind === 'user_text' && userProse !== true && !isToolOutput(block.text, body))
    return undefined;
  const found = small
    ? undefined
    : (cache?.apply(rewriter, body, context) ?? rewriter.apply(body, context));
  const literal =
    found?.classification.kind === 'narrative' &&
    userProse !== true &&
    (isHumanAuthored(block) || isFileNamed(known));
  const isWhole =
    isAskedAgain && found !== undefined && FILE_CLASSES.has(found.classification.kind);
  const applied =
    found !== undefined && (literal || isWhole)
      ? { ...found, text: body, by: [], removed: [] }
      : found;
  const plain: Applied = applied ?? {
    text: body,
    classification: { kind: 'narrative' },
    by: [],
    removed: [],
    isTried: false,
  };
  const untouched: Applied = { ...plain, text: body, by: [], removed: [] };
  const isRun = known.hints.command !== undefined;
  const isEdit = isEditResult(block);
  const repeatsOf = (one: Applied, mayReferToOwn: boolean): TextWithReferences | undefined => {
    const options = {
      mode: known.mode,
      before: linesBefore,
      mayReferToEarlier: forgets !== true,
      mayReferToOwn,
      isRun,
      isEdit,
      isAskedAgain,
    };
    return isSearchable(one) ? referToRepeats(one, body, sent, options) : undefined;
  };
  const made: Rewritten[] = [{ ...plain, repeatedLines: 0 }];
  for (const one of plain.text === body ? [plain] : [plain, untouched]) {
    const referred = repeatsOf(one, true);
    if (referred !== undefined) made.push(withReferences(one, referred));
  }
  const again = referToSameText(plain, body, sent, {
    isRun,
    isEdit,
    mayReferToEarlier: forgets !== true,
  });
  if (again !== undefined) made.push(withReferences(plain, again));
  if (isStripped(plain.by) && linesBefore === 0) {
    const referred = repeatsOf(untouched, false);
    const both = referred && stripBetweenReferences(referred, plain);
    if (both !== undefined) made.push(both);
  }
  const candidates = small
    ? made
    : made.flatMap((one) => (isSearchable(one) ? [one, ...thinNumbers(one)] : [one]));
  const { one: shortest, tokens } = shortestOf(candidates);
  const total = estimateTokens(body);
  // A text that is barely shorter is only harder to read.
  const worth = total - tokens >= minSaved(total) ? shortest : { ...untouched, repeatedLines: 0 };
  const best = (literal ? undefined : asExcerpt(block, plain, tokens, known)) ?? worth;
  return { ...best, text: prefix + best.text + suffix };
}

/** Path of a prose file in a command. */
const PROSE_PATH = /[\w.@~/-]{1,200}\.(?:mdx?|markdown|rst|adoc|txt)\b/gi;
const COMMAND_CHARS = 500;

/**
 * Returns true if the newest question names the prose file that was read: any sentence of it may be
 * the task.
 */
function isFileNamed({ query, hints: { path, command = '' } }: BlockContext): boolean {
  const paths =
    path === undefined ? (command.slice(0, COMMAND_CHARS).match(PROSE_PATH) ?? []) : [path];
  return paths.some((one) => isMentioned(one.slice(one.lastIndexOf('/') + 1), { query }));
}

/**
 * Classes in which every line may be the one needed, or which have rules of their own for cutting.
 */
const UNCUT_CLASSES: ReadonlySet<TextClass> = new Set(['diff', 'trace', 'grep', 'listing', 'blob']);
/** Classes of which rules leave little out, and of which any part can be requested. */
const FILE_CLASSES: ReadonlySet<TextClass> = new Set(['code', 'config', 'narrative']);
/** Maximum size of a useful excerpt, as a share of the alternative. */
const MAX_EXCERPT_SHARE = 0.8;

/**
 * Returns the excerpt of a result that is still `tokens` long after its rules; undefined for any
 * other.
 */
function asExcerpt(
  block: ConversationBlock,
  plain: Applied,
  tokens: number,
  { longResultsTokens: longTokens = 0, definitions, query }: BlockContext,
): Rewritten | undefined {
  const { rangeRequest: words } = block;
  const { classification, by } = plain;
  if (words === undefined || longTokens === 0 || tokens <= longTokens) return undefined;
  if (
    UNCUT_CLASSES.has(classification.kind) ||
    (by.length > 0 && !FILE_CLASSES.has(classification.kind))
  )
    return undefined;
  const long = { block, classification, query, words, longTokens, definitions };
  const parts = shortenLong(block.text, long);
  if (parts === undefined) return undefined;
  const made: Rewritten = { ...plain, ...parts, by: ['long_result'], repeatedLines: 0 };
  const best = shortestOf([made, ...thinNumbers(made)]);
  if (best.tokens > tokens * MAX_EXCERPT_SHARE) return undefined;
  return { ...best.one, tokensLeftOut: tokens - best.tokens };
}

/** Returns the form with the fewest tokens; the first of equals. */
function shortestOf(forms: readonly Rewritten[]): { one: Rewritten; tokens: number } {
  return forms
    .map((one) => ({ one, tokens: estimateTokens(one.text) }))
    .reduce((best, other) => (other.tokens < best.tokens ? other : best));
}

/** Returns the tokens a new form must save: a twentieth, at least 8 and at most 40. */
export function minSaved(tokens: number): number {
  return Math.min(Math.max(8, tokens / 20), 40);
}

/**
 * Returns false for a text of too many lines to search for repeats; its class algorithms still run.
 */
export function isSearchable({ text }: { readonly text: string }): boolean {
  return text.length <= MAX_LINES || lineBreaks(text, MAX_LINES + 1) <= MAX_LINES;
}

function withReferences(
  applied: Applied,
  { text, lines, labels }: Omit<TextWithReferences, 'covers'>,
): Rewritten {
  return { ...applied, text, by: [...applied.by, 'repeats'], repeatedLines: lines, labels };
}

/**
 * Returns a file with its repeats replaced by references and the comments between them left out.
 */
function stripBetweenReferences(
  referred: TextWithReferences,
  plain: Applied,
): Rewritten | undefined {
  const made = stripBetween(referred, plain.text, plain.removed);
  return made === undefined
    ? undefined
    : { ...withReferences(plain, { ...referred, text: made.text }), removed: made.removed };
}

/** Rules that only drop comments and blank lines of a file. */
const COMMENT_RULES: ReadonlySet<string | undefined> = new Set(['code', 'config']);

/** Returns true if a text only lost comments and had its line numbers thinned out. */
export function isStripped(by: readonly string[]): boolean {
  return COMMENT_RULES.has(by[0]) && by.every((name) => name === by[0] || name === 'gutter');
}

/** Rules that leave out lines of texts that may be files. */
const SHORTENING_RULES: ReadonlySet<string> = new Set(['code', 'config', 'narrative']);

/** Returns true if some of a text's own lines are missing from what was sent. */
export function isShortened({ by, removed }: Pick<Applied, 'by' | 'removed'>): boolean {
  return removed.length > 0 && by.some((name) => SHORTENING_RULES.has(name));
}

function thinNumbers(made: Rewritten): readonly Rewritten[] {
  const text = thinGutter(made.text);
  return text === undefined ? [] : [{ ...made, text, by: [...made.by, 'gutter'] }];
}

/** Returns all of a tool result, or the pasted part of user text, never its question. */
function pastedPart({ kind, text }: ConversationBlock): Envelope {
  return kind === 'tool_result' ? { prefix: '', body: text, suffix: '' } : splitPasted(text);
}
