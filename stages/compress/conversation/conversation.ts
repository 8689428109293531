/**
 * The causal pass over a conversation: what goes out for a block depends on the mode, the
 * settings and the blocks up to it, on nothing else. No clock, no later block, no position
 * from the end and no cache decides a byte, so the rewritten beginning of a conversation
 * is the same in every turn, on every machine and after every restart.
 */
import type { Rules } from '../../learned/rules.ts';
import type { TextClass } from '../../model/classify/classes.ts';
import type { Envelope } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import { builtIn } from '../built-in.ts';
import type { Applied, ApplyContext, Rewriter } from '../rewrite.ts';
import { hintsOf, labelOf, noLabels, type LabelCounts } from './block-label.ts';
import type { BlockCache } from './cache.ts';
import type { CommentLines, Mode } from '../rule.ts';
import type { Definitions } from '../code/definitions.ts';
import { GrammarNeeded } from '../code/grammar-needed.ts';
import { shortenLong } from '../long/shorten.ts';
import { thinGutter } from '../references/gutter.ts';
import { hasMark } from '../text/has-mark.ts';
import { lineBreaks } from '../text/line-breaks.ts';
import { linesIn } from '../text/ranges.ts';
import { queriesOf } from './query.ts';
import { nameRepeats } from '../references/name-repeats.ts';
import { originsOf } from '../references/origins.ts';
import { SentLines, type Referred } from '../references/repeats.ts';
import { stripBetween } from '../references/strip-between.ts';
import { isSaid } from './said.ts';
import { isToolOutput, splitPasted } from './user-text.ts';
import type { ConversationBlock } from './blocks.ts';

export interface ConversationOptions {
  readonly mode: Mode;
  readonly maxChars: number;
  /** A block is eligible from the point on where the estimated tokens up to and including it reach this. */
  readonly thresholdTokens: number;
  readonly logBudgetTokens: number;
  /** What `svc learn apply` froze before the conversation began; absent where nothing was. */
  readonly applied?: Rules;
  /** True where prose that a user wrote or pasted may be shortened too. */
  readonly userProse?: boolean;
  /** True where the provider may forget what went out: then nothing points into an earlier block. */
  readonly forgets?: boolean;
  /** A result of more tokens may be left in parts, where its block says how to ask for the rest; 0 or absent: none. */
  readonly longResultsTokens?: number;
  /** What code defines, for long results. Whether it is given must not change within a conversation. */
  readonly definitions?: Definitions;
  /** Comment ranges of code, for `aggressive`. Whether it is given must not change within a conversation. */
  readonly commentLines?: CommentLines;
  /** The rules to compress with; the built-in ones where left out. Must not change within a conversation. */
  readonly rewriter?: Rewriter;
}

/** What goes out for one block. */
export interface BlockOutcome
  extends
    Pick<Applied, 'by' | 'removed' | 'isTried' | 'failed' | 'skipped'>,
    Partial<Pick<Applied, 'classification'>> {
  readonly index: number;
  readonly text: string;
  readonly changed: boolean;
  /**
   * Why it went out as it came: `kind`, `below-threshold`, `error-result`, `short`, `marked`,
   * `no-gain`, `strict`, `undecided`, or the reason it is protected.
   */
  readonly reason?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Lines that are named by reference to an earlier block. */
  readonly repeatedLines: number;
  /** Tokens that went because a long result is left in parts. */
  readonly tokensLeftOut?: number;
  /**
   * What it was to be decided with and could not be had, in words. That comes not from the
   * conversation alone, so whoever sends it as it is has to remember that.
   */
  readonly undecided?: string;
}

/** A tool result below this many tokens is left alone, unless it repeats an earlier one. */
const MIN_TOKENS = 60;
/** Error results up to this many characters are never touched. */
const ERROR_CHARS = 8000;
/** Texts of more lines are not searched for what went out before. */
const MAX_LINES = 25_000;

/** What is known before a block: grows block by block, and is what a memo keeps. */
export interface ConversationState {
  readonly outcomes: BlockOutcome[];
  readonly sent: SentLines;
  tokens: number;
  query: string;
  calls: number;
  readonly labels: LabelCounts;
}

export function emptyState(): ConversationState {
  const labels = noLabels();
  return { outcomes: [], sent: new SentLines(), tokens: 0, query: '', calls: 0, labels };
}

/** Hears what is decided so far, and which block is looked at next. */
export type Watch = (decided: readonly BlockOutcome[], next: ConversationBlock) => void;

/**
 * What goes out for every block. `state` may already hold those of the first ones (see
 * `memo.ts`); it is extended in place, by whole blocks: one for which `GrammarNeeded` is thrown
 * has left no trace in it. `cache` saves time only. A block that an algorithm fails on
 * goes out as it was, as far as that algorithm is concerned.
 */
export function compressConversation(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
  cache?: BlockCache,
  state: ConversationState = emptyState(),
  watch?: Watch,
  queries: readonly string[] = queriesOf(blocks),
): readonly BlockOutcome[] {
  for (let at = state.outcomes.length; at < blocks.length; at++) {
    watch?.(state.outcomes, blocks[at]!);
    state.outcomes.push(compressBlock(blocks[at]!, queries[at]!, options, cache, state));
  }
  return state.outcomes;
}

function compressBlock(
  block: ConversationBlock,
  asked: string,
  options: ConversationOptions,
  cache: BlockCache | undefined,
  state: ConversationState,
): BlockOutcome {
  const tokensBefore = estimateTokens(block.text);
  const tokens = state.tokens + tokensBefore;
  const query = asked === '' ? state.query : asked;
  const hints = hintsOf(block);
  if (block.forgotten !== undefined && options.mode !== 'strict') {
    state.tokens = tokens;
    state.query = query;
    // It still counts as a result, and nothing can refer to it any more.
    labelOf(block, hints, state.labels);
    return forgottenOutcome(block, block.forgotten);
  }
  const reason = keptReason(block, options, tokens);
  const tried =
    reason === undefined ? tryRewrite(block, { ...options, query, hints }, cache, state) : {};
  const { made, undecided, failed = made?.failed } = tried;
  const changed = made !== undefined && made.text !== block.text;
  const text = changed ? made.text : block.text;
  const unchangedBecause = reason ?? (undecided === undefined ? 'no-gain' : 'undecided');
  state.tokens = tokens;
  state.query = query;
  const removed = changed ? made.removed : [];
  const by = changed ? made.by : [];
  remember(block, labelOf(block, hints, state.labels), { text, removed, by }, state);
  return {
    index: block.index,
    text,
    changed,
    ...(changed ? {} : { reason: unchangedBecause }),
    ...(made === undefined ? {} : { classification: made.classification }),
    by,
    tokensBefore,
    tokensAfter: changed ? estimateTokens(text) : tokensBefore,
    removed,
    repeatedLines: changed ? made.repeatedLines : 0,
    ...(made?.tokensLeftOut === undefined ? {} : { tokensLeftOut: made.tokensLeftOut }),
    isTried: made?.isTried ?? false,
    ...(failed === undefined ? {} : { failed }),
    ...(made?.skipped === undefined ? {} : { skipped: made.skipped }),
    ...(undecided === undefined ? {} : { undecided }),
  };
}

/** What goes out for a block that is left out. */
export function forgottenOutcome(block: ConversationBlock, line: string): BlockOutcome {
  return {
    index: block.index,
    text: line,
    changed: true,
    by: ['forgetting'],
    tokensBefore: estimateTokens(block.text),
    tokensAfter: estimateTokens(line),
    removed: [{ from: 0, to: lineBreaks(block.text) + 1 }],
    repeatedLines: 0,
    isTried: false,
  };
}

interface Tried extends Pick<BlockOutcome, 'failed' | 'undecided'> {
  readonly made?: Rewritten | undefined;
}

/** What is not an algorithm of a class must not cost the request either. */
function tryRewrite(...args: Parameters<typeof rewriteBlock>): Tried {
  try {
    return { made: rewriteBlock(...args) };
  } catch (thrown) {
    if (!(thrown instanceof GrammarNeeded)) return { failed: ['rewrite'] };
    if (thrown.trouble === undefined) throw thrown;
    return { undecided: thrown.message };
  }
}

function keptReason(
  block: ConversationBlock,
  options: ConversationOptions,
  tokens: number,
): string | undefined {
  if (options.mode === 'strict') return 'strict';
  if (block.protectedReason !== undefined) return block.protectedReason;
  if (block.kind !== 'tool_result' && block.kind !== 'user_text') return 'kind';
  if (block.isError === true && block.text.length <= ERROR_CHARS) return 'error-result';
  if (tokens < options.thresholdTokens) return 'below-threshold';
  return hasMark(block.text) ? 'marked' : undefined;
}

interface Rewritten extends Applied {
  readonly repeatedLines: number;
  readonly labels?: ReadonlySet<string>;
  readonly tokensLeftOut?: number;
}

type Known = ApplyContext &
  Pick<
    ConversationOptions,
    'userProse' | 'forgets' | 'rewriter' | 'longResultsTokens' | 'definitions'
  >;

/** The shortest of: compressed by class, with or without its repeats named, or only its repeats named. */
function rewriteBlock(
  block: ConversationBlock,
  known: Known,
  cache: BlockCache | undefined,
  state: ConversationState,
): Rewritten | undefined {
  const { userProse, forgets, rewriter = builtIn, ...rest } = known;
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
  const said = found?.classification.kind === 'narrative' && userProse !== true && isSaid(block);
  const applied = said ? { ...found, text: body, by: [], removed: [] } : found;
  const plain: Applied = applied ?? {
    text: body,
    classification: { kind: 'narrative' },
    by: [],
    removed: [],
    isTried: false,
  };
  const untouched: Applied = { ...plain, text: body, by: [], removed: [] };
  const isRun = known.hints.command !== undefined;
  const repeatsOf = (one: Applied, own: boolean): Referred | undefined => {
    const options = {
      mode: known.mode,
      before: linesBefore,
      earlier: forgets !== true,
      own,
      isRun,
    };
    return isSearched(one) ? nameRepeats(one, body, state.sent, options) : undefined;
  };
  const made: Rewritten[] = [{ ...plain, repeatedLines: 0 }];
  for (const one of plain.text === body ? [plain] : [plain, untouched]) {
    const referred = repeatsOf(one, true);
    if (referred !== undefined) made.push(withReferences(one, referred));
  }
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
  if (best.labels !== undefined) state.sent.introduce(best.labels);
  return { ...best, text: prefix + best.text + suffix };
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
function leastSaved(tokens: number): number {
  return Math.min(Math.max(8, tokens / 20), 40);
}

/** A text of a hundred thousand lines is looked through by the algorithms of its class only. */
function isSearched({ text }: { readonly text: string }): boolean {
  return text.length <= MAX_LINES || lineBreaks(text, MAX_LINES + 1) <= MAX_LINES;
}

function withReferences(applied: Applied, { text, lines, labels }: Referred): Rewritten {
  return { ...applied, text, by: [...applied.by, 'repeats'], repeatedLines: lines, labels };
}

/** Code with its repeats named and the comments between them left out. */
function strippedBetween(referred: Referred, plain: Applied): Rewritten | undefined {
  const made = stripBetween(referred.text, plain.text, plain.removed);
  return made === undefined
    ? undefined
    : { ...withReferences(plain, { ...referred, text: made.text }), removed: made.removed };
}

/** True where nothing was done to a text but that comments were left out, and numbers thinned out. */
function isStripped(by: readonly string[]): boolean {
  return by[0] === 'code' && by.every((name) => name === 'code' || name === 'gutter');
}

function thinNumbers(made: Rewritten): readonly Rewritten[] {
  const text = thinGutter(made.text);
  return text === undefined ? [] : [{ ...made, text, by: [...made.by, 'gutter'] }];
}

/** Of a tool result the whole; of user text what was pasted, never what was asked. */
function pastedPart({ kind, text }: ConversationBlock): Envelope {
  return kind === 'tool_result' ? { prefix: '', body: text, suffix: '' } : splitPasted(text);
}

/** Makes what went out findable for later blocks. What the model wrote itself counts too: it is always verbatim. */
function remember(
  block: ConversationBlock,
  label: string | undefined,
  { text, removed, by }: Pick<BlockOutcome, 'text' | 'removed' | 'by'>,
  state: ConversationState,
): void {
  if (label !== undefined && isStripped(by) && isSearched(block)) {
    state.sent.add(label, block.text, undefined, linesIn(removed));
  } else if (label !== undefined && isSearched({ text }) && isSearched(block)) {
    const changed = text !== block.text;
    const origins = changed ? originsOf(block.text, text, { removed, before: 0 }) : undefined;
    state.sent.add(label, text, origins);
  }
  if (block.kind !== 'tool_use') return;
  const call = `call ${++state.calls} (${block.toolName ?? 'tool'})`;
  for (const [name, written] of longStrings('input', block.toolInput))
    state.sent.add(`${name} of ${call}`, written);
}

/** The long strings of an input, each under a name that no other of them has. */
function longStrings(name: string, input: unknown): readonly (readonly [string, string])[] {
  if (typeof input === 'string') return input.length >= 80 ? [[name, input]] : [];
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    longStrings(name === 'input' ? key : `${name}.${key}`, value),
  );
}
