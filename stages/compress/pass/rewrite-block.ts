/** What goes out for one block that may be touched: the best of what its rules and references to earlier blocks make of it. */
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
/** Texts of more lines are not searched for what went out before. */
const MAX_LINES = 25_000;

/** What became of a block. */
export interface Rewritten extends Applied {
  readonly repeatedLines: number;
  readonly labels?: ReadonlySet<string>;
  readonly tokensLeftOut?: number;
}

/** How a conversation is compressed, beside what rules are told. */
export interface RewriteOptions {
  /** True where prose that a user wrote or pasted may be shortened too. */
  readonly userProse?: boolean;
  /** True where the provider may forget what went out: then nothing points into an earlier block. */
  readonly forgets?: boolean;
  /** A result of more tokens may be left in parts, where its block says how to ask for the rest; 0 or absent: none. */
  readonly longResultsTokens?: number;
  /** What code defines, for long results. Whether it is given must not change within a conversation. */
  readonly definitions?: Definitions;
  /** The rules to compress with; the built-in ones where left out. Must not change within a conversation. */
  readonly rewriter?: Rewriter;
}

/** What is known of a block beside itself and what went out before it. */
export interface Known extends ApplyContext, RewriteOptions {
  /** True where it is asked for because of lines that were left out: then every line of a file goes out. */
  readonly isAskedAgain?: boolean;
}

/**
 * The shortest of: compressed by class, with or without its repeats named, or only its repeats named.
 * Undefined for a block that is to be left alone. `labels` of the result are still to be introduced in `sent`.
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
  const said =
    found?.classification.kind === 'narrative' &&
    userProse !== true &&
    (isHumanAuthored(block) || isFileNamed(known));
  const isWhole = isAskedAgain && found !== undefined && FILES.has(found.classification.kind);
  const applied =
    found !== undefined && (said || isWhole)
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
  // A text that is hardly smaller is only harder to read.
  const worth = total - tokens >= leastSaved(total) ? shortest : { ...untouched, repeatedLines: 0 };
  const best = (said ? undefined : inParts(block, plain, tokens, known)) ?? worth;
  return { ...best, text: prefix + best.text + suffix };
}

/** A path of prose in a command. */
const PROSE_PATH = /[\w.@~/-]{1,200}\.(?:mdx?|markdown|rst|adoc|txt)\b/gi;
const COMMAND_CHARS = 500;

/** True where the newest question names the file of prose that was read: each of its sentences may be what is to be done. */
function isFileNamed({ query, hints: { path, command = '' } }: Known): boolean {
  const paths =
    path === undefined ? (command.slice(0, COMMAND_CHARS).match(PROSE_PATH) ?? []) : [path];
  return paths.some((one) => isNamed(one.slice(one.lastIndexOf('/') + 1), { query }));
}

/** Classes of which every line may be what was asked for, or that rules of their own cut. */
const WHOLE: ReadonlySet<TextClass> = new Set(['diff', 'trace', 'grep', 'listing', 'blob']);
/** Of these, what rules leave out is little, and all of it can be asked for. */
const FILES: ReadonlySet<TextClass> = new Set(['code', 'config', 'narrative']);
/** Parts that are larger than this share of what would go out otherwise are not worth it. */
const PARTS_SHARE = 0.8;

/** A result that is still long, as `tokens`, whatever the rules did, in parts; undefined for any other. */
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

/** The first of those with the fewest tokens. */
function shortestOf(forms: readonly Rewritten[]): { one: Rewritten; tokens: number } {
  return forms
    .map((one) => ({ one, tokens: estimateTokens(one.text) }))
    .reduce((best, other) => (other.tokens < best.tokens ? other : best));
}

/** What a new form of a text must save, in estimated tokens: a twentieth, and never more than 40. */
export function leastSaved(tokens: number): number {
  return Math.min(Math.max(8, tokens / 20), 40);
}

/** A text of a hundred thousand lines is looked through by the algorithms of its class only. */
export function isSearched({ text }: { readonly text: string }): boolean {
  return text.length <= MAX_LINES || lineBreaks(text, MAX_LINES + 1) <= MAX_LINES;
}

function withReferences(
  applied: Applied,
  { text, lines, labels }: Omit<Referred, 'covers'>,
): Rewritten {
  return { ...applied, text, by: [...applied.by, 'repeats'], repeatedLines: lines, labels };
}

/** A file with its repeats named and the comments between them left out. */
function strippedBetween(referred: Referred, plain: Applied): Rewritten | undefined {
  const made = stripBetween(referred, plain.text, plain.removed);
  return made === undefined
    ? undefined
    : { ...withReferences(plain, { ...referred, text: made.text }), removed: made.removed };
}

/** Rules that leave comments and blank lines out of a file, and nothing else. */
const STRIPPING: ReadonlySet<string | undefined> = new Set(['code', 'config']);

/** True where nothing was done to a text but that comments were left out, and numbers thinned out. */
export function isStripped(by: readonly string[]): boolean {
  return STRIPPING.has(by[0]) && by.every((name) => name === by[0] || name === 'gutter');
}

/** Rules that leave lines out of what can be a file. */
const SHORTENING: ReadonlySet<string> = new Set(['code', 'config', 'narrative']);

/** True where some of a text's own lines cannot be read where it went out. */
export function isShortened({ by, removed }: Pick<Applied, 'by' | 'removed'>): boolean {
  return removed.length > 0 && by.some((name) => SHORTENING.has(name));
}

function thinNumbers(made: Rewritten): readonly Rewritten[] {
  const text = thinGutter(made.text);
  return text === undefined ? [] : [{ ...made, text, by: [...made.by, 'gutter'] }];
}

/** Of a tool result the whole; of user text what was pasted, never what was asked. */
function pastedPart({ kind, text }: ConversationBlock): Envelope {
  return kind === 'tool_result' ? { prefix: '', body: text, suffix: '' } : splitPasted(text);
}
