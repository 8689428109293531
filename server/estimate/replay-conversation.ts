/**
 * Replays a recorded conversation through the proxy's own code: the sent form of each block, and
 * what is left out at cold moments and in all later requests.
 */
import { createCanceller } from '../../engine/index.ts';
import { toConversationBlocks } from '../../stages/compress/pass/blocks.ts';
import { withForgotten } from '../../stages/compress/history/forget/forgotten.ts';
import { compressForgetting } from '../../stages/compress/history/forget/compress-forgetting.ts';
import { planExcerpts } from '../../stages/compress/history/long/plan-excerpts.ts';
import { mayForget } from '../../stages/compress/history/may-forget.ts';
import { thresholdForBlocks } from '../../stages/compress/pass/threshold.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { JobOptions } from '../../stages/compress/worker/job.ts';
import { COMPRESSION_VERSION } from '../../stages/compress/version.ts';
import { createConversations } from '../../stages/conversations/conversations.ts';
import { isThought, signsThoughts } from '../../stages/conversations/sending-rules.ts';
import { createStore } from '../../stages/conversations/store.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation } from '../sessions/session.ts';

/** A block of a conversation, and its sent form. */
export interface SentBlock {
  /** Index of the block in the request. */
  readonly index: number;
  /** Index of the item that contains it; -1 for a block before all items. */
  readonly item: number;
  readonly text: string;
  /** Equal to `text` if nothing was changed. */
  readonly sent: string;
  /** Estimated tokens of `text`, by the fixed estimator. */
  readonly estimated: number;
}

export interface ConversationReplay {
  /**
   * Returns what is sent for the first `items` items. `isCold`: old results are left out from now
   * on.
   */
  send(items: number, isCold: boolean): Promise<readonly SentBlock[]>;
  /**
   * True if a thinking block is signed over some of the first `items` items: none of them may then
   * be left out.
   */
  isBound(items: number): boolean;
  /** Counts the results left out so far, and those whose call is later repeated word for word. */
  forgotten(): { readonly results: number; readonly askedAgain: number };
}

export function replayConversation(
  conversation: Conversation,
  compressor: Pick<ConversationCompressor, 'compress'>,
  settings: JobOptions,
): ConversationReplay {
  const body = bodyOf(conversation, itemsOf(conversation));
  const request = asRequest(conversation.dialect, body);
  const original = request.original.blocks();
  const isSigned = signsThoughts(request.original);
  const forgets = mayForget(body);
  const { blocks } = planExcerpts(toConversationBlocks(request), {
    longTokens: settings.longResultsTokens ?? 0,
    body,
    // Each result was decided when it was new, before its file was written to again.
    decided: { get: () => (forgets ? undefined : true) },
    mayDecide: false,
  });
  const clock = { wallMs: () => 0 };
  const limits = {
    memory: createConversations({
      store: createStore(clock),
      clock,
      version: COMPRESSION_VERSION,
    }).memoryOf(request),
    compressor: {
      run: async (job: Parameters<typeof compressor.compress>[0]) => ({
        outcomes: await compressor.compress(job),
        where: 'inline' as const,
      }),
    },
    options: {
      ...settings,
      thresholdTokens: thresholdForBlocks(body, settings.thresholdTokens),
      forgets,
    },
    maxTimeMs: 0,
    signal: createCanceller().signal,
  };
  const mayOmit = !forgets && settings.mode !== 'strict';
  return {
    async send(items, isCold) {
      const included = blocks.filter(({ message = -1 }) => message < items);
      const { outcomes } = await compressForgetting(included, limits, isCold && mayOmit);
      return outcomes.map(({ index, text, tokensBefore }) => {
        const { message: item, text: before } = original[index]!;
        return { index, item, text: before, sent: text ?? before, estimated: tokensBefore };
      });
    },
    isBound: (items) =>
      isSigned && original.some((block) => isThought(block) && block.message < items),
    forgotten() {
      const omitted = withForgotten(blocks, limits.memory).filter(
        (block) => block.forgotten !== undefined,
      );
      const isAskedAgain = (block: (typeof omitted)[number]): boolean =>
        blocks.some(
          ({ index, kind, toolInput, toolName }) =>
            kind === 'tool_result' &&
            index > block.index &&
            toolName === block.toolName &&
            JSON.stringify(toolInput) === JSON.stringify(block.toolInput),
        );
      return { results: omitted.length, askedAgain: omitted.filter(isAskedAgain).length };
    },
  };
}

/** Returns the number of items of the longest request. */
export function itemsOf({ requests }: Conversation): number {
  return Math.max(...requests.map(({ items }) => items));
}
