/**
 * Measures the benefit of leaving old results out at cold moments: transcripts turn by turn through
 * the real decision and a simulated prompt cache that expires before every tenth turn.
 */
import { createBlockCache, type BlockCache } from '../../stages/compress/pass/cache.ts';
import {
  compressConversation,
  type ConversationOptions,
} from '../../stages/compress/pass/conversation.ts';
import { forgettableResults } from '../../stages/compress/history/forget/forgettable.ts';
import { withForgettable } from '../../stages/compress/history/forget/forgotten.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { CACHE_LIFETIMES_MS } from '../../stages/model/model-facts.ts';
import { median } from '../figures.ts';
import {
  READ_PRICES,
  costAt,
  createPromptCache,
  totalTokens,
} from '../../stages/prompt-cache/simulated.ts';
import type { CachedTokens } from '../../stages/prompt-cache/simulated.ts';
import { toBlocks, turnEnds } from './transcripts.ts';
import type { Transcript } from './transcripts.ts';

const MINUTE_MS = 60_000;
const PAUSE_EVERY = 10;

/** Result for one transcript. */
export interface Forgetting {
  readonly forgotten: number;
  /** Forgotten results whose call is later repeated with the same input. */
  readonly askedAgain: number;
  /**
   * Input cost with forgetting, divided by the cost of compression alone, at each of `READ_PRICES`.
   */
  readonly costs: readonly number[];
  /** Turns outside cold moments in which an earlier block was sent with other bytes than before. */
  readonly unstableTurns: number;
}

/**
 * Replays `transcript`, with forgetting and without; every turn is compressed from its first block,
 * as after a restart.
 */
export function measureForgetting(
  transcript: Transcript,
  options: ConversationOptions,
  count: CountTokens,
): Forgetting {
  const whole = toBlocks(transcript);
  const cache = createBlockCache(1000);
  const [plain, less] = [createPromptCache(), createPromptCache()];
  let blocks = whole;
  let sentBefore: readonly string[] = [];
  let [atMs, unstableTurns] = [0, 0];
  const tokensBefore: CachedTokens[] = [];
  const tokensAfter: CachedTokens[] = [];
  const sized = (texts: readonly string[]) => texts.map((text) => ({ text, tokens: count(text) }));
  const plainTexts = sized(compressConversation(whole, options, cache).map(({ text }) => text));
  for (const [turn, end] of turnEnds(transcript, whole).entries()) {
    const isCold = turn % PAUSE_EVERY === PAUSE_EVERY - 1;
    atMs += isCold ? 2 * CACHE_LIFETIMES_MS['5m'] : MINUTE_MS;
    if (isCold) blocks = withMoreForgotten(blocks, end, options, cache);
    const texts = compressConversation(blocks.slice(0, end), options, cache).map(
      ({ text }) => text,
    );
    if (!isCold && sentBefore.some((text, at) => text !== texts[at])) unstableTurns++;
    sentBefore = texts;
    const breakpoints = [1, end - 1];
    tokensBefore.push(plain.send({ blocks: plainTexts.slice(0, end), breakpoints, atMs }));
    tokensAfter.push(less.send({ blocks: sized(texts), breakpoints, atMs }));
  }
  const forgottenBlocks = blocks.filter(({ forgotten }) => forgotten !== undefined);
  const askedAgain = forgottenBlocks.filter((one) =>
    whole.some(
      ({ index, kind, toolInput, toolName }) =>
        kind === 'tool_result' &&
        index > one.index &&
        toolName === one.toolName &&
        JSON.stringify(toolInput) === JSON.stringify(one.toolInput),
    ),
  ).length;
  const [before, after] = [totalTokens(tokensBefore), totalTokens(tokensAfter)];
  const costs = READ_PRICES.map((price) => costAt(price, after) / costAt(price, before));
  return { forgotten: forgottenBlocks.length, askedAgain, costs, unstableTurns };
}

type Blocks = ReturnType<typeof toBlocks>;

/** Does the same as the stage, without its durable record. */
function withMoreForgotten(
  blocks: Blocks,
  end: number,
  options: ConversationOptions,
  cache: BlockCache,
): Blocks {
  const sent = blocks.slice(0, end);
  const before = compressConversation(sent, options, cache);
  const less = withForgettable(sent, forgettableResults(sent, before));
  const total = (list: readonly { readonly tokensAfter: number }[]): number =>
    list.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);
  if (total(compressConversation(less, options, cache)) >= total(before)) return blocks;
  return [...less, ...blocks.slice(end)];
}

/** Sums over all transcripts from which something was left out. */
export interface ForgettingSummary {
  readonly transcripts: number;
  readonly forgotten: number;
  readonly askedAgain: number;
  readonly median: number;
  readonly worst: number;
  /** The median at each of `READ_PRICES`. */
  readonly medianByReadPrice: readonly number[];
  readonly unstableTurns: number;
}

/** Undefined if nothing was left out of any. */
export function summariseForgetting(all: readonly Forgetting[]): ForgettingSummary | undefined {
  const used = all.filter(({ forgotten }) => forgotten > 0);
  if (used.length === 0) return undefined;
  const sum = (pick: (one: Forgetting) => number) =>
    all.reduce((total, one) => total + pick(one), 0);
  const costsAt = (at: number) => used.map(({ costs }) => costs[at]!);
  return {
    transcripts: used.length,
    forgotten: sum((one) => one.forgotten),
    askedAgain: sum((one) => one.askedAgain),
    median: median(costsAt(0)),
    worst: Math.max(...costsAt(0)),
    medianByReadPrice: READ_PRICES.map((_, at) => median(costsAt(at))),
    unstableTurns: sum((one) => one.unstableTurns),
  };
}
