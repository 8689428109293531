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
import { nameRepeats, nameSameText } from '../repeats/name-repeats.ts';
import { isEditResult } from '../repeats/edit-confirmations.ts';
import type { Referred, SentLines } from '../repeats/repeats.ts';
import { stripBetween } from '../repeats/strip-between.ts';
import { isNamed } from '../rules/named-lines.ts';
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

/** Options of a conversation beside those that rules receive. */
export interface RewriteOptions {
  /** True where prose written or pasted by a user may be shortened too. */
  readonly userProse?: boolean;
  /** True where the provider may forget earlier text: then nothing refers to an earlier block. */
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

/** What is known of a block beyond its text and the blocks before it. */
export interface Known extends ApplyContext, RewriteOptions {
  /**
   * True where it is read again because lines were left out: then a file is sent with every line.
   */
  readonly isAskedAgain?: boolean;
}

/**
 * Returns the shortest of: compressed by class, with or without its repeats replaced by references,
 * or only with its repeats replaced. Undefined for a block to leave alone. `labels` of the result
 * still have to be introduced in `sent`.
 */
export function rewriteBlock(
  block: ConversationBlock,
  known: Known,
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
  const isWhole = isAskedAgain && found !== undefined && FILES.has(found.classification.kind);
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
  const repeatsOf = (one: Applied, own: boolean): Referred | undefined => {
    const options = {
      mode: known.mode,
      before: linesBefore,
      earlier: forgets !== true,
      own,
      isRun,
      isEdit,
      isAskedAgain,
    };
    return isSearched(one) ? nameRepeats(one, body, sent, options) : undefined;
  };
  const made: Rewritten[] = [{ ...plain, repeatedLines: 0 }];
  for (const one of plain.text === body ? [plain] : [plain, untouched]) {
    const referred = repeatsOf(one, true);
    if (referred !== undefined) made.push(withReferences(one, referred));
  }
  const again = nameSameText(plain, body, sent, { isRun, isEdit, earlier: forgets !== true });
  if (again !== undefined) made.push(withReferences(plain, again));
  if (isStripped(plain.by) && linesBefore === 0) {
    const referred = repeatsOf(untouched, false);
    const both = referred && strippedBetween(referred, plain);
    if (both !== undefined) made.push(both);
  }
  const candidates = small
    ? made
    : made.flatMap((one) => (isSearched(one) ? [one, ...thinNumbers(one)] : [one]));
  const { one: shortest, tokens } = shortestOf(candidates);
  const total = estimateTokens(body);
  // A text that is barely shorter is only harder to read.
  const worth = total - tokens >= minSaved(total) ? shortest : { ...untouched, repeatedLines: 0 };
  const best = (literal ? undefined : inParts(block, plain, tokens, known)) ?? worth;
  return { ...best, text: prefix + best.text + suffix };
}

/** Path of a prose file in a command. */
const PROSE_PATH = /[\w.@~/-]{1,200}\.(?:mdx?|markdown|rst|adoc|txt)\b/gi;
const COMMAND_CHARS = 500;

/**
 * Returns true where the newest question names the prose file that was read: any sentence of it may
 * be the task.
 */
function isFileNamed({ query, hints: { path, command = '' } }: Known): boolean {
  const paths =
    path === undefined ? (command.slice(0, COMMAND_CHARS).match(PROSE_PATH) ?? []) : [path];
  return paths.some((one) => isNamed(one.slice(one.lastIndexOf('/') + 1), { query }));
}

/**
 * Classes in which every line may be the one needed, or which have rules of their own for cutting.
 */
const WHOLE: ReadonlySet<TextClass> = new Set(['diff', 'trace', 'grep', 'listing', 'blob']);
/** In these classes rules leave little out, and all of it can be requested. */
const FILES: ReadonlySet<TextClass> = new Set(['code', 'config', 'narrative']);
/** An excerpt larger than this share of the alternative is not worth it. */
const PARTS_SHARE = 0.8;

/**
 * Returns the excerpt of a result that is still `tokens` long after its rules; undefined for any
 * other.
 */
function inParts(
  block: ConversationBlock,
  plain: Applied,
  tokens: number,
  { longResultsTokens: longTokens = 0, definitions, query }: Known,
): Rewritten | undefined {
  const { partWords: words } = block;
  const { classification, by } = plain;
  if (words === undefined || longTokens === 0 || tokens <= longTokens) return undefined;
  if (WHOLE.has(classification.kind) || (by.length > 0 && !FILES.has(classification.kind)))
    return undefined;
  const long = { block, classification, query, words, longTokens, definitions };
  const parts = shortenLong(block.text, long);
  if (parts === undefined) return undefined;
  const made: Rewritten = { ...plain, ...parts, by: ['long_result'], repeatedLines: 0 };
  const best = shortestOf([made, ...thinNumbers(made)]);
  if (best.tokens > tokens * PARTS_SHARE) return undefined;
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
export function isSearched({ text }: { readonly text: string }): boolean {
  return text.length <= MAX_LINES || lineBreaks(text, MAX_LINES + 1) <= MAX_LINES;
}

function withReferences(
  applied: Applied,
  { text, lines, labels }: Omit<Referred, 'covers'>,
): Rewritten {
  return { ...applied, text, by: [...applied.by, 'repeats'], repeatedLines: lines, labels };
}

/**
 * Returns a file with its repeats replaced by references and the comments between them left out.
 */
function strippedBetween(referred: Referred, plain: Applied): Rewritten | undefined {
  const made = stripBetween(referred, plain.text, plain.removed);
  return made === undefined
    ? undefined
    : { ...withReferences(plain, { ...referred, text: made.text }), removed: made.removed };
}

/** Rules that only drop comments and blank lines of a file. */
const STRIPPING: ReadonlySet<string | undefined> = new Set(['code', 'config']);

/** Returns true where a text only lost comments and had its line numbers thinned out. */
export function isStripped(by: readonly string[]): boolean {
  return STRIPPING.has(by[0]) && by.every((name) => name === by[0] || name === 'gutter');
}

/** Rules that leave out lines of texts that may be files. */
const SHORTENING: ReadonlySet<string> = new Set(['code', 'config', 'narrative']);

/** Returns true where some of a text's own lines are missing from what was sent. */
export function isShortened({ by, removed }: Pick<Applied, 'by' | 'removed'>): boolean {
  return removed.length > 0 && by.some((name) => SHORTENING.has(name));
}

function thinNumbers(made: Rewritten): readonly Rewritten[] {
  const text = thinGutter(made.text);
  return text === undefined ? [] : [{ ...made, text, by: [...made.by, 'gutter'] }];
}

/** Returns all of a tool result, or the pasted part of user text, never its question. */
function pastedPart({ kind, text }: ConversationBlock): Envelope {
  return kind === 'tool_result' ? { prefix: '', body: text, suffix: '' } : splitPasted(text);
}
