/**
 * The causal pass over a conversation: the compressed form of a block depends on the mode, the
 * settings and the blocks up to it, and on nothing else. No clock, later block, distance from the
 * end or cache affects a byte, so the rewritten beginning of a conversation is the same in every
 * turn, on every machine and after every restart.
 */
import type { Rules } from '../../learned/rules.ts';
import { lineNumbering } from '../../model/classify/envelope.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { Applied } from '../rules/rewrite.ts';
import {
  callLabel,
  originHints,
  labelOf,
  noLabelCounts,
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
import { countedNumbers, countedOrigins } from '../repeats/origins.ts';
import { SentLines } from '../repeats/repeats.ts';
import { Shortened } from './repeated-reads.ts';
import type { ConversationBlock } from './blocks.ts';
import {
  isSearchable,
  isShortened,
  isStripped,
  minSaved,
  rewriteBlock,
  type BlockContext,
  type Rewritten,
  type RewriteOptions,
} from './rewrite-block.ts';

export interface ConversationOptions extends RewriteOptions {
  readonly mode: Mode;
  readonly maxChars: number;
  /** A block is eligible once the estimated tokens up to and including it reach this. */
  readonly thresholdTokens: number;
  readonly logBudgetTokens: number;
  /**
   * True if no later text will refer to these; runs of equal lines are then folded in prose too.
   */
  readonly foldsProse?: boolean;
  /**
   * Rules that `svc learn apply` froze before the conversation began; absent if there were none.
   */
  readonly applied?: Rules;
  /**
   * Comment ranges of code, for `aggressive`. Whether it is given must not change within a
   * conversation.
   */
  readonly commentLines?: CommentLines;
}

/** The outcome for one block: what is sent, and why. */
export interface BlockOutcome
  extends
    Pick<Applied, 'by' | 'removed' | 'isTried' | 'failed' | 'skipped'>,
    Partial<Pick<Applied, 'classification'>> {
  readonly index: number;
  readonly text: string;
  readonly changed: boolean;
  /**
   * Why it was sent unchanged: `kind`, `below-threshold`, `error-result`, `short`, `marked`,
   * `no-gain`, `strict`, `undecided`, `timed-out`, or the reason it is protected.
   */
  readonly reason?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Lines replaced by references to an earlier block. */
  readonly repeatedLines: number;
  /** Tokens saved by sending a long result as an excerpt. */
  readonly tokensLeftOut?: number;
  /**
   * The resource that was unavailable when the block was to be decided, in words. Its absence does
   * not follow from the conversation alone, so a caller that sends the block unchanged has to
   * record it.
   */
  readonly undecided?: string;
}

/** Error results up to this many characters are never touched. */
const ERROR_CHARS = 8000;
/** The state before a block: it grows block by block, and is kept for the next turn. */
export interface ConversationState {
  readonly outcomes: BlockOutcome[];
  readonly sent: SentLines;
  readonly shortened: Shortened;
  /** Number of cache lookups. */
  lookups: number;
  tokens: number;
  query: string;
  calls: number;
  readonly labels: LabelCounts;
}

export function emptyState(): ConversationState {
  const labels = noLabelCounts();
  const sent = new SentLines();
  const shortened = new Shortened();
  return { outcomes: [], sent, shortened, lookups: 0, tokens: 0, query: '', calls: 0, labels };
}

/** Called with the outcomes so far and the block that is processed next. */
export type OnBlockDecided = (decided: readonly BlockOutcome[], next: ConversationBlock) => void;

/**
 * Returns the outcome of every block. `state` may already hold those of the first blocks. `cache`
 * only saves time.
 */
export function compressConversation(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
  cache?: BlockCache,
  state: ConversationState = emptyState(),
): readonly BlockOutcome[] {
  const done = state.outcomes.length;
  const queries = queriesOf(blocks).slice(done);
  compressNextBlocks(blocks.slice(done), options, cache, state, undefined, queries);
  return state.outcomes;
}

/**
 * Adds the outcomes of the `blocks` that follow those in `state`, by whole blocks: one for which
 * `GrammarNeeded` is thrown leaves no trace in it. If an algorithm fails on a block, that
 * algorithm's share of the work is skipped.
 */
export function compressNextBlocks(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
  cache: BlockCache | undefined,
  state: ConversationState,
  watch: OnBlockDecided | undefined,
  queries: readonly string[],
): void {
  for (const [at, block] of blocks.entries()) {
    watch?.(state.outcomes, block);
    const before = cache?.asked() ?? 0;
    state.outcomes.push(compressBlock(block, queries[at]!, options, cache, state));
    state.lookups += (cache?.asked() ?? 0) - before;
  }
}

function compressBlock(
  block: ConversationBlock,
  queryText: string,
  options: ConversationOptions,
  cache: BlockCache | undefined,
  state: ConversationState,
): BlockOutcome {
  const tokensBefore = estimateTokens(block.text);
  const tokens = state.tokens + tokensBefore;
  const query = queryText === '' ? state.query : queryText;
  const hints = originHints(block);
  if (block.forgotten !== undefined && options.mode !== 'strict') {
    state.tokens = tokens;
    state.query = query;
    // A forgotten block still counts as a result, but nothing can refer to it any more.
    labelOf(block, hints, state.labels);
    return forgottenOutcome(block, block.forgotten);
  }
  if (block.sentAs !== undefined) return sendAgain(block, block.sentAs, { tokens, query }, state);
  const reason = reasonUnchanged(block, options, tokens);
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
  // Later blocks refer to the lines above the fetch marker.
  const sent = changed ? withFetchMark(block, made, minSaved) : text;
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

/** Returns the outcome of a forgotten block; `line` is the marker sent in its place. */
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

/** Sends a block as before; later blocks may refer to the lines readable in it. */
function sendAgain(
  block: ConversationBlock,
  text: string,
  { tokens, query }: Pick<ConversationState, 'tokens' | 'query'>,
  state: ConversationState,
): BlockOutcome {
  state.tokens = tokens;
  state.query = query;
  const label = labelOf(block, originHints(block), state.labels);
  // Which of its lines are references is unknown, so an equal result must not be replaced by a
  // reference to it.
  const repeatedLines = text === block.text ? 0 : 1;
  remember(block, label, { text, removed: [], by: [], repeatedLines }, state);
  return sentAgainOutcome(block, text);
}

/** Returns the outcome of a block that is sent as before. */
export function sentAgainOutcome(block: ConversationBlock, text: string): BlockOutcome {
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

interface Attempt extends Pick<BlockOutcome, 'failed' | 'undecided'> {
  readonly made?: (Rewritten & Partial<RewrittenTexts>) | undefined;
}

/** Rewrites a block; a fault outside the class algorithms must not fail the request either. */
function tryRewrite(
  block: ConversationBlock,
  embedded: EmbeddedTexts | undefined,
  known: BlockContext,
  cache: BlockCache | undefined,
  sent: SentLines,
): Attempt {
  try {
    const made = embedded && rewriteEmbedded(block, embedded, known, cache, sent);
    return { made: made ?? rewriteBlock(block, known, cache, sent) };
  } catch (thrown) {
    if (!(thrown instanceof GrammarNeeded)) return { failed: ['rewrite'] };
    if (thrown.reason === undefined) throw thrown;
    return { undecided: thrown.message };
  }
}

function reasonUnchanged(
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

/** The form in which a text was sent. */
type Sent = Pick<BlockOutcome, 'text' | 'removed' | 'by' | 'repeatedLines'>;

/**
 * Indexes what was sent for later blocks. Text written by the model counts too: it is always
 * verbatim.
 */
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
    isSearchable(block)
  ) {
    const isView = lineNumbering(block.text.split('\n')) !== undefined;
    const isWhole = repeatedLines === 0;
    const numbers = isView && isWhole ? {} : { numbers: countedNumbers(block.text, text, removed) };
    state.sent.add(label, block.text, undefined, { lines: linesIn(removed), ...numbers });
  } else if (label !== undefined && isSearchable({ text }) && isSearchable(block)) {
    const changed = text !== block.text;
    const origins = changed ? countedOrigins(block.text, text, { removed, before: 0 }) : undefined;
    state.sent.add(label, text, origins);
  }
  if (block.kind !== 'tool_use' || block.isForProgram === true) return;
  const call = callLabel(block, ++state.calls);
  for (const [name, written] of longStrings('input', block.toolInput))
    state.sent.add(`${name} of ${call}`, written);
}

/** Indexes each text of a document separately; line numbers start at its own first line. */
function rememberTexts(parts: readonly EmbeddedPart[], state: ConversationState): void {
  for (const [at, part] of parts.entries()) {
    const label = `text ${at + 1} of ${resultLabel(part.hints, state.labels)}`;
    remember(part.block, label, part, state);
  }
}

/** Returns the long strings of an input, each under a unique name. */
function longStrings(name: string, input: unknown): readonly (readonly [string, string])[] {
  if (typeof input === 'string') return input.length >= 80 ? [[name, input]] : [];
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    longStrings(name === 'input' ? key : `${name}.${key}`, value),
  );
}
