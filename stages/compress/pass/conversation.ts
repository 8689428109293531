/**
 * The causal pass over a conversation: what goes out for a block depends on the mode, the
 * settings and the blocks up to it, on nothing else. No clock, no later block, no position
 * from the end and no cache decides a byte, so the rewritten beginning of a conversation
 * is the same in every turn, on every machine and after every restart.
 */
import type { Rules } from '../../learned/rules.ts';
import { lineNumbering } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { Applied } from '../rules/rewrite.ts';
import {
  callLabel,
  hintsOf,
  labelOf,
  noLabels,
  resultLabel,
  type LabelCounts,
} from './block-label.ts';
import type { BlockCache } from './cache.ts';
import {
  embeddedTexts,
  rewriteEmbedded,
  type EmbeddedPart,
  type EmbeddedTexts,
  type RewrittenTexts,
} from './embedded-texts.ts';
import { withFetchMark } from '../fetch/mark.ts';
import type { CommentLines, Mode } from '../rules/rule.ts';
import { GrammarNeeded } from '../rules/code/grammar-needed.ts';
import { hasMark } from '../text/has-mark.ts';
import { lineBreaks } from '../text/line-breaks.ts';
import { linesIn } from '../text/ranges.ts';
import { queriesOf } from './query.ts';
import { countedIn, countedOrigins } from '../repeats/origins.ts';
import { SentLines } from '../repeats/repeats.ts';
import { Shortened } from './asked-again.ts';
import type { ConversationBlock } from './blocks.ts';
import {
  isSearched,
  isShortened,
  isStripped,
  leastSaved,
  rewriteBlock,
  type Known,
  type Rewritten,
  type RewriteOptions,
} from './rewrite-block.ts';

export interface ConversationOptions extends RewriteOptions {
  readonly mode: Mode;
  readonly maxChars: number;
  /** A block is eligible from the point on where the estimated tokens up to and including it reach this. */
  readonly thresholdTokens: number;
  readonly logBudgetTokens: number;
  /** True for texts that no later one refers to: equal lines in a row are folded in prose too. */
  readonly foldsProse?: boolean;
  /** What `svc learn apply` froze before the conversation began; absent where nothing was. */
  readonly applied?: Rules;
  /** Comment ranges of code, for `aggressive`. Whether it is given must not change within a conversation. */
  readonly commentLines?: CommentLines;
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
   * `no-gain`, `strict`, `undecided`, `timed-out`, or the reason it is protected.
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

/** Error results up to this many characters are never touched. */
const ERROR_CHARS = 8000;
/** What is known before a block: grows block by block, and is what a memo keeps. */
export interface ConversationState {
  readonly outcomes: BlockOutcome[];
  readonly sent: SentLines;
  readonly shortened: Shortened;
  /** Results that the cache was asked for. */
  asked: number;
  tokens: number;
  query: string;
  calls: number;
  readonly labels: LabelCounts;
}

export function emptyState(): ConversationState {
  const labels = noLabels();
  const sent = new SentLines();
  const shortened = new Shortened();
  return { outcomes: [], sent, shortened, asked: 0, tokens: 0, query: '', calls: 0, labels };
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
    const asked = cache?.asked() ?? 0;
    state.outcomes.push(compressBlock(blocks[at]!, queries[at]!, options, cache, state));
    state.asked += (cache?.asked() ?? 0) - asked;
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
  if (block.sentAs !== undefined) return repeat(block, block.sentAs, { tokens, query }, state);
  const reason = keptReason(block, options, tokens);
  const embedded = embeddedTexts(block, hints);
  const known = {
    ...options,
    query,
    hints,
    isAskedAgain: state.shortened.isAskedAgain(block, query),
  };
  const tried = reason === undefined ? tryRewrite(block, embedded, known, cache, state.sent) : {};
  const { made, undecided, failed = made?.failed } = tried;
  const changed = made !== undefined && made.text !== block.text;
  const text = changed ? made.text : block.text;
  const unchangedBecause = reason ?? (undecided === undefined ? 'no-gain' : 'undecided');
  state.tokens = tokens;
  state.query = query;
  if (made?.labels !== undefined) state.sent.introduce(made.labels);
  const removed = changed ? made.removed : [];
  const by = changed ? made.by : [];
  state.shortened.note(block);
  if (isShortened({ by, removed })) state.shortened.add(block, query);
  else if (known.isAskedAgain) state.shortened.addWhole(block);
  const label = labelOf(block, hints, state.labels);
  const parts = changed ? made.parts : embedded?.parts;
  const repeatedLines = changed ? made.repeatedLines : 0;
  if (!changed || parts === undefined)
    remember(block, label, { text, removed, by, repeatedLines }, state);
  if (label !== undefined) rememberTexts(parts ?? [], state);
  // Later blocks refer to what stands above the mark.
  const sent = changed ? withFetchMark(block, made, leastSaved) : text;
  return {
    index: block.index,
    text: sent,
    changed,
    ...(changed ? {} : { reason: unchangedBecause }),
    ...(made === undefined ? {} : { classification: made.classification }),
    by,
    tokensBefore,
    tokensAfter: changed ? estimateTokens(sent) : tokensBefore,
    removed,
    repeatedLines,
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

/** What goes out as it did before: later blocks may refer to what of it can be read there. */
function repeat(
  block: ConversationBlock,
  text: string,
  { tokens, query }: Pick<ConversationState, 'tokens' | 'query'>,
  state: ConversationState,
): BlockOutcome {
  state.tokens = tokens;
  state.query = query;
  const label = labelOf(block, hintsOf(block), state.labels);
  // What of it names earlier lines is not known: it is no form that an equal result could be named by.
  const repeatedLines = text === block.text ? 0 : 1;
  remember(block, label, { text, removed: [], by: [], repeatedLines }, state);
  return repeatedOutcome(block, text);
}

/** What goes out for a block that is repeated. */
export function repeatedOutcome(block: ConversationBlock, text: string): BlockOutcome {
  const changed = text !== block.text;
  return {
    index: block.index,
    text,
    changed,
    ...(changed ? {} : { reason: 'sent-before' }),
    by: changed ? ['repeated'] : [],
    tokensBefore: estimateTokens(block.text),
    tokensAfter: estimateTokens(text),
    removed: [],
    repeatedLines: 0,
    isTried: false,
  };
}

interface Tried extends Pick<BlockOutcome, 'failed' | 'undecided'> {
  readonly made?: (Rewritten & Partial<RewrittenTexts>) | undefined;
}

/** What is not an algorithm of a class must not cost the request either. */
function tryRewrite(
  block: ConversationBlock,
  embedded: EmbeddedTexts | undefined,
  known: Known,
  cache: BlockCache | undefined,
  sent: SentLines,
): Tried {
  try {
    const made = embedded && rewriteEmbedded(block, embedded, known, cache, sent);
    return { made: made ?? rewriteBlock(block, known, cache, sent) };
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

/** What went out for a text. */
type Sent = Pick<BlockOutcome, 'text' | 'removed' | 'by' | 'repeatedLines'>;

/** Makes what went out findable for later blocks. What the model wrote itself counts too: it is always verbatim. */
function remember(
  block: ConversationBlock,
  label: string | undefined,
  { text, removed, by, repeatedLines }: Sent,
  state: ConversationState,
): void {
  if (
    label !== undefined &&
    block.kind === 'tool_result' &&
    text !== block.text &&
    repeatedLines === 0
  )
    state.sent.addForm(label, block.text, text);
  if (
    label !== undefined &&
    isStripped(by.filter((name) => name !== 'repeats')) &&
    isSearched(block)
  ) {
    const isView = lineNumbering(block.text.split('\n')) !== undefined;
    const isWhole = repeatedLines === 0;
    const numbers = isView && isWhole ? {} : { numbers: countedIn(block.text, text, removed) };
    state.sent.add(label, block.text, undefined, { lines: linesIn(removed), ...numbers });
  } else if (label !== undefined && isSearched({ text }) && isSearched(block)) {
    const changed = text !== block.text;
    const origins = changed ? countedOrigins(block.text, text, { removed, before: 0 }) : undefined;
    state.sent.add(label, text, origins);
  }
  if (block.kind !== 'tool_use' || block.isForProgram === true) return;
  const call = callLabel(block, ++state.calls);
  for (const [name, written] of longStrings('input', block.toolInput))
    state.sent.add(`${name} of ${call}`, written);
}

/** Each text of a document by itself: its lines are counted from its own first one. */
function rememberTexts(parts: readonly EmbeddedPart[], state: ConversationState): void {
  for (const [at, part] of parts.entries()) {
    const label = `text ${at + 1} of ${resultLabel(part.hints, state.labels)}`;
    remember(part.block, label, part, state);
  }
}

/** The long strings of an input, each under a name that no other of them has. */
function longStrings(name: string, input: unknown): readonly (readonly [string, string])[] {
  if (typeof input === 'string') return input.length >= 80 ? [[name, input]] : [];
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    longStrings(name === 'input' ? key : `${name}.${key}`, value),
  );
}
