/**
 * What compression would have saved of a conversation in a session file: the blocks that a proxy
 * would have sent smaller, by the code that a proxy runs, in every request that held them. What the
 * saving is worth follows from the provider's own count of each request: of the input tokens in
 * their order, the first were read from its cache, the next written to it, the rest plain.
 */
import { toConversationBlocks } from '../../stages/compress/conversation/blocks.ts';
import { withParts } from '../../stages/compress/long/decide.ts';
import { mayForget } from '../../stages/compress/may-forget.ts';
import type { DryOptions } from '../../stages/compress/dry-run.ts';
import { leftForBlocks } from '../../stages/compress/threshold.ts';
import { createToolTrimmer } from '../../stages/compress/tools/trim.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Prices } from '../../stages/ledger/prices.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { totalInputTokens } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import { providerOf, withoutHeld } from './worth.ts';
import type { Held } from './worth.ts';

/** Sums over requests; tokens are input tokens, nano-dollars those of the input alone. */
export interface Estimate {
  readonly requests: number;
  /** Requests of which the file has no count of the provider's; they are in no other sum. */
  readonly uncounted: number;
  readonly inputTokens: number;
  readonly savedTokens: number;
  /** Requests that are counted, and whose model has no known price; they are in neither cost. */
  readonly unpriced: number;
  readonly costNanoUsd: number;
  readonly costSavedNanoUsd: number;
}

export const NO_REQUESTS: Estimate = {
  requests: 0,
  uncounted: 0,
  inputTokens: 0,
  savedTokens: 0,
  unpriced: 0,
  costNanoUsd: 0,
  costSavedNanoUsd: 0,
};

export interface EstimateOptions {
  readonly compressor: ConversationCompressor;
  readonly options: DryOptions;
  readonly prices: Prices;
  /** For the prices of requests whose time is not known. */
  readonly nowMs: number;
  /** Counts as the model of that name does, as near as public tokenizers come. */
  readonly counterFor: (model: string) => Promise<CountTokens>;
}

/** A block of a conversation, in tokens. */
interface Sized {
  /** The number of the item that holds it; -1 for one before all of them. */
  readonly item: number;
  readonly before: number;
  readonly saved: number;
}

export async function estimateConversation(
  conversation: Conversation,
  options: EstimateOptions,
): Promise<Estimate> {
  const { requests } = conversation;
  const blocks = await sizedBlocks(conversation, options);
  const front = await trimmedTools(conversation, options);
  const provider = providerOf(conversation);
  const sums = { ...NO_REQUESTS, requests: requests.length };
  for (const request of requests) {
    const total = request.usage === null ? null : totalInputTokens(request.usage);
    if (request.usage === null || total === null) {
      sums.uncounted += 1;
      continue;
    }
    const usage = { ...request.usage, outputTokens: null };
    const tools = front.saved === 0 ? [] : [{ ...front, fromEnd: total }];
    const smaller = withoutHeld(usage, total, [...tools, ...heldBy(request, blocks)]);
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
  return { ...sums, savedTokens: Math.round(sums.savedTokens) };
}

async function trimmedTools(conversation: Conversation, { options, counterFor }: EstimateOptions) {
  const front = { tokens: 0, saved: 0 };
  if (options.tools !== 'trim' || options.mode === 'strict') return front;
  const body = bodyOf(conversation, mostItems(conversation));
  const request = asRequest(conversation.dialect, body, JSON.stringify(body));
  const count = await counterFor(modelOf(conversation));
  for (const { before, after } of createToolTrimmer()(request).changed) {
    const tokens = count(before);
    front.tokens += tokens;
    front.saved += Math.max(0, tokens - count(after));
  }
  return front;
}

const mostItems = ({ requests }: Conversation): number =>
  Math.max(...requests.map(({ items }) => items));

const modelOf = ({ requests }: Conversation): string =>
  requests.find(({ model }) => model !== null)?.model ?? '';

/** Every block of the whole conversation. Texts that stay are estimated, changed ones are counted. */
async function sizedBlocks(
  conversation: Conversation,
  { compressor, options: settings, counterFor }: EstimateOptions,
): Promise<readonly Sized[]> {
  const { tools: _, ...options } = settings;
  const body = bodyOf(conversation, mostItems(conversation));
  const request = asRequest(conversation.dialect, body);
  const blocks = request.original.blocks();
  const forgets = mayForget(body);
  const { blocks: parted } = withParts(toConversationBlocks(request), {
    longTokens: options.longResultsTokens ?? 0,
    body,
    // Of each result it was decided when it was new, before anything was written to its file since.
    decided: { get: () => (forgets ? undefined : true) },
    mayDecide: false,
  });
  const thresholdTokens = leftForBlocks(body, options.thresholdTokens);
  const outcomes = await compressor.compress({
    blocks: parted,
    options: { ...options, thresholdTokens, forgets },
  });
  const count = await counterFor(modelOf(conversation));
  const changed = outcomes.flatMap(({ index, text, tokensBefore }) => {
    if (text === undefined) return [];
    const before = count(blocks[index]!.text);
    const saved = Math.max(0, before - count(text));
    return [{ index, before, saved, estimated: tokensBefore }];
  });
  const sum = (pick: (one: (typeof changed)[number]) => number): number =>
    changed.reduce((total, one) => total + pick(one), 0);
  const estimated = sum((one) => one.estimated);
  const ratio = estimated === 0 ? 1 : sum((one) => one.before) / estimated;
  const known = new Map(changed.map((one) => [one.index, one]));
  return outcomes.map(({ index, tokensBefore }) => ({
    item: blocks[index]!.message,
    before: known.get(index)?.before ?? tokensBefore * ratio,
    saved: known.get(index)?.saved ?? 0,
  }));
}

/** The changed blocks that a request held, each with the tokens from its beginning to the end of the request. */
function heldBy({ items }: SessionRequest, blocks: readonly Sized[]): readonly Held[] {
  const held: Held[] = [];
  let fromEnd = 0;
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const { item, before, saved } = blocks[at]!;
    if (item >= items) continue;
    fromEnd += before;
    if (saved > 0) held.push({ fromEnd, tokens: before, saved });
  }
  return held;
}
