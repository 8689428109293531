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
import { playConversation } from '../estimate/play.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Conversation } from '../sessions/session.ts';

export interface SimulatedUsage {
  readonly before: Usage;
  readonly after: Usage;
}

/** Returns one usage per request, in order. */
export async function simulatedUsage(
  conversation: Conversation,
  compressor: Pick<ConversationCompressor, 'compress'>,
  { coldTrimMs: _coldTrimMs, tools: _tools, ...settings }: EstimateSettings,
  count: CountTokens,
): Promise<readonly SimulatedUsage[]> {
  const play = playConversation(conversation, compressor, settings);
  const [raw, sent] = [createPromptCache(), createPromptCache()];
  const sizes = new Map<string, number>();
  const sized = (text: string) => {
    const tokens = sizes.get(text) ?? count(text);
    sizes.set(text, tokens);
    return { text, tokens };
  };
  const front = sized(JSON.stringify(conversation.params));
  const usages: SimulatedUsage[] = [];
  for (const { items, model } of conversation.requests) {
    const blocks = await play.send(items, false);
    const { leastCachedTokens } = factsOf(model ?? undefined);
    const usageOf = (cache: typeof raw, texts: readonly string[]): Usage => {
      const all = [front, ...texts.map(sized)];
      const tokens = cache.send({
        blocks: all,
        breakpoints: [all.length - 1],
        atMs: 0,
        ...(leastCachedTokens !== undefined && { leastTokens: leastCachedTokens }),
      });
      return {
        ...emptyUsage,
        inputTokens: tokens.plain,
        cacheReadTokens: tokens.read,
        cacheWriteTokens: tokens.written,
      };
    };
    usages.push({
      before: usageOf(
        raw,
        blocks.map(({ text }) => text),
      ),
      after: usageOf(
        sent,
        blocks.map(({ sent: text }) => text),
      ),
    });
  }
  return usages;
}
