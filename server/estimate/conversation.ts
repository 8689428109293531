/**
 * Estimates what compression would have saved in a recorded conversation: the proxy's own code
 * finds the blocks that would have been sent smaller, in every request that contained them. Their
 * value follows from the provider's usage of each request: in order, the first input tokens were
 * read from its cache, the next written to it, the rest plain.
 */
import type { DryOptions } from '../../stages/compress/pass/dry-run.ts';
import { createToolTrimmer } from '../../stages/compress/tools/trim.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { totalInputTokens } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import { coldMoments } from './cold-moments.ts';
import { itemsOf, replayConversation } from './replay-conversation.ts';
import type { SentBlock } from './replay-conversation.ts';
import { providerOf, withoutParts, withRewritten } from './input-cost.ts';
import type { InputPart } from './input-cost.ts';

/** Sums over requests; tokens are input tokens, nano-dollars the input cost alone. */
export interface Estimate {
  readonly requests: number;
  /** Requests without the provider's usage in the file; they are in no other sum. */
  readonly uncounted: number;
  readonly inputTokens: number;
  readonly savedTokens: number;
  /** Counted requests whose model has no known price; they are in neither cost. */
  readonly unpriced: number;
  readonly costNanoUsd: number;
  readonly costSavedNanoUsd: number;
  /** Requests from which on old results were left out. */
  readonly coldMoments: number;
  /** Pauses that would have been such moments if no thinking block were signed over the results. */
  readonly boundMoments: number;
  /** Results that were left out, and how many of their calls the session later repeated. */
  readonly forgotten: number;
  readonly askedAgain: number;
}

export const NO_REQUESTS: Estimate = {
  requests: 0,
  uncounted: 0,
  inputTokens: 0,
  savedTokens: 0,
  unpriced: 0,
  costNanoUsd: 0,
  costSavedNanoUsd: 0,
  coldMoments: 0,
  boundMoments: 0,
  forgotten: 0,
  askedAgain: 0,
};

/**
 * Compression settings for a new conversation, and the pause after which old results are left out;
 * null if never.
 */
export type EstimateSettings = DryOptions & { readonly coldTrimMs?: number | null };

export interface EstimateOptions {
  readonly compressor: ConversationCompressor;
  readonly options: EstimateSettings;
  readonly prices: Prices;
  /** Used to price requests without a known time. */
  readonly nowMs: number;
  /** Returns a token counter for a model, as close as public tokenizers get. */
  readonly counterFor: (model: string) => Promise<CountTokens>;
}

/** A block of a conversation, in tokens. */
interface Sized extends Pick<SentBlock, 'item' | 'sent'> {
  readonly before: number;
  readonly saved: number;
}

export async function estimateConversation(
  conversation: Conversation,
  options: EstimateOptions,
): Promise<Estimate> {
  const { tools, coldTrimMs = null, ...settings } = options.options;
  const { requests } = conversation;
  const count = memoized(await options.counterFor(modelOf(conversation)));
  const replay = replayConversation(conversation, options.compressor, settings);
  const cold = coldTrimMs === null ? new Set() : coldMoments(conversation, coldTrimMs);
  const all = itemsOf(conversation);
  let blocks = sized(await replay.send(all, false), count);
  const front = tools === 'trim' ? trimmedTools(conversation, settings.mode, count) : NOTHING;
  const provider = providerOf(conversation);
  const sums = { ...NO_REQUESTS, requests: requests.length };
  for (const request of requests) {
    let rewritten = 0;
    const isBound = cold.has(request) && replay.isBound(request.items);
    if (isBound) sums.boundMoments += 1;
    if (cold.has(request) && !isBound) {
      await replay.send(request.items, true);
      const before = blocks;
      blocks = sized(await replay.send(all, false), count);
      rewritten = changedFromEnd(request, before, blocks);
      if (rewritten > 0) sums.coldMoments += 1;
    }
    const total = request.usage === null ? null : totalInputTokens(request.usage);
    if (request.usage === null || total === null) {
      sums.uncounted += 1;
      continue;
    }
    const usage = { ...request.usage, outputTokens: null };
    const trimmed = front.saved === 0 ? [] : [{ ...front, fromEnd: total }];
    const parts = [...trimmed, ...changedParts(request, blocks)];
    const smaller = withoutParts(withRewritten(usage, total, rewritten), total, parts);
    sums.inputTokens += total;
    sums.savedTokens += total - (totalInputTokens(smaller) ?? 0);
    const cost = (of: Usage): number | null =>
      options.prices.costNanoUsd(provider, request.model ?? '', of, request.atMs ?? options.nowMs);
    const [before, after] = [cost(usage), cost(smaller)];
    if (before === null || after === null) sums.unpriced += 1;
    else {
      sums.costNanoUsd += before;
      sums.costSavedNanoUsd += before - after;
    }
  }
  const { results: forgotten, askedAgain } = replay.forgotten();
  return { ...sums, savedTokens: Math.round(sums.savedTokens), forgotten, askedAgain };
}

/** Memoizes counts: a conversation's texts recur at every cold moment. */
function memoized(count: CountTokens): CountTokens {
  const known = new Map<string, number>();
  return (text) => {
    const tokens = known.get(text) ?? count(text);
    known.set(text, tokens);
    return tokens;
  };
}

const NOTHING = { tokens: 0, saved: 0 };

function trimmedTools(
  conversation: Conversation,
  mode: EstimateSettings['mode'],
  count: CountTokens,
): typeof NOTHING {
  const front = { ...NOTHING };
  if (mode === 'strict') return front;
  const body = bodyOf(conversation, itemsOf(conversation));
  const request = asRequest(conversation.dialect, body, JSON.stringify(body));
  for (const { before, after } of createToolTrimmer()(request).changed) {
    const tokens = count(before);
    front.tokens += tokens;
    front.saved += tokens - count(after);
  }
  return front;
}

const modelOf = ({ requests }: Conversation): string =>
  requests.find(({ model }) => model !== null)?.model ?? '';

/** Sizes every block of the conversation. Unchanged texts are estimated, changed ones counted. */
function sized(blocks: readonly SentBlock[], count: CountTokens): readonly Sized[] {
  let [counted, estimated] = [0, 0];
  for (const block of blocks)
    if (block.sent !== block.text) {
      counted += count(block.text);
      estimated += block.estimated;
    }
  const ratio = estimated === 0 ? 1 : counted / estimated;
  return blocks.map(({ item, text, sent, estimated: tokens }) => {
    if (sent === text) return { item, sent, before: tokens * ratio, saved: 0 };
    const before = count(text);
    return { item, sent, before, saved: before - count(sent) };
  });
}

/**
 * Returns the tokens from the first block that is sent differently than before to the end of the
 * request.
 */
function changedFromEnd(
  { items }: SessionRequest,
  before: readonly Sized[],
  now: readonly Sized[],
): number {
  const first = now.findIndex(
    ({ item, sent }, index) => item < items && sent !== before[index]?.sent,
  );
  if (first < 0) return 0;
  return now
    .slice(first)
    .reduce((sum, block) => (block.item < items ? sum + block.before : sum), 0);
}

/**
 * Returns the changed blocks in a request, each with the tokens from its beginning to the end of
 * the request.
 */
function changedParts({ items }: SessionRequest, blocks: readonly Sized[]): readonly InputPart[] {
  const parts: InputPart[] = [];
  let fromEnd = 0;
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const { item, before, saved } = blocks[at]!;
    if (item >= items) continue;
    fromEnd += before;
    if (saved !== 0) parts.push({ fromEnd, tokens: before, saved });
  }
  return parts;
}
