/**
 * Simulates the usage that a provider would have reported for a conversation whose file has none:
 * its requests go through a simulated prompt cache, one after another without pauses, with the
 * marker where clients set it.
 */
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { factsOf } from '../../stages/model/model-facts.ts';
import { emptyUsage } from '../../stages/model/usage.ts';
import type { Usage } from '../../stages/model/usage.ts';
import { createPromptCache } from '../../stages/prompt-cache/simulated.ts';
import { replayConversation } from '../estimate/replay-conversation.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Conversation } from '../sessions/session.ts';

export interface SimulatedUsage {
  readonly before: Usage;
  readonly after: Usage;
}

/** A request before and after: the part in front of the items, and the texts of its blocks. */
export interface SimulatedRequest {
  readonly model: string | null;
  readonly before: RequestTexts;
  readonly after: RequestTexts;
}

interface RequestTexts {
  /** Tools and everything else that is not in a block. */
  readonly front: string;
  readonly texts: readonly string[];
}

/** Returns one usage per request, in order. */
export async function simulatedUsage(
  conversation: Conversation,
  compressor: Pick<ConversationCompressor, 'compress'>,
  { coldTrimMs: _coldTrimMs, tools: _tools, ...settings }: EstimateSettings,
  count: CountTokens,
): Promise<readonly SimulatedUsage[]> {
  const replay = replayConversation(conversation, compressor, settings);
  const front = JSON.stringify(conversation.params);
  const simulate = createSimulation(count);
  const usages: SimulatedUsage[] = [];
  for (const { items, model } of conversation.requests) {
    const blocks = await replay.send(items, false);
    const before = { front, texts: blocks.map(({ text }) => text) };
    const after = { front, texts: blocks.map(({ sent }) => sent) };
    usages.push(simulate({ model, before, after }));
  }
  return usages;
}

/** Sends the requests of one conversation, one after another. */
export function createSimulation(
  count: CountTokens,
): (request: SimulatedRequest) => SimulatedUsage {
  const [raw, sent] = [createPromptCache(), createPromptCache()];
  const sizes = new Map<string, number>();
  const sized = (text: string) => {
    const tokens = sizes.get(text) ?? count(text);
    sizes.set(text, tokens);
    return { text, tokens };
  };
  return ({ model, before, after }) => {
    const { minCachedTokens } = factsOf(model ?? undefined);
    const usageOf = (cache: typeof raw, { front, texts }: RequestTexts): Usage => {
      const blocks = [front, ...texts].map(sized);
      const tokens = cache.send({
        blocks,
        breakpoints: [blocks.length - 1],
        atMs: 0,
        ...(minCachedTokens !== undefined && { minTokens: minCachedTokens }),
      });
      return {
        ...emptyUsage,
        inputTokens: tokens.plain,
        cacheReadTokens: tokens.read,
        cacheWriteTokens: tokens.written,
      };
    };
    return { before: usageOf(raw, before), after: usageOf(sent, after) };
  };
}
