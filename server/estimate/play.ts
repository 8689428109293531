/**
 * A conversation from a session file, played through the code that a proxy runs: what goes out for
 * each of its blocks, and what is left out at cold moments and in every later request.
 */
import { createCanceller } from '../../engine/index.ts';
import { toConversationBlocks } from '../../stages/compress/pass/blocks.ts';
import { withForgotten } from '../../stages/compress/history/forget/forgotten.ts';
import { compressForgetting } from '../../stages/compress/history/forget/at-cold-moment.ts';
import { withParts } from '../../stages/compress/history/long/decide.ts';
import { mayForget } from '../../stages/compress/history/may-forget.ts';
import { leftForBlocks } from '../../stages/compress/pass/threshold.ts';
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { JobOptions } from '../../stages/compress/worker/job.ts';
import { COMPRESSION_VERSION } from '../../stages/compress/version.ts';
import { createConversations } from '../../stages/conversations/conversations.ts';
import { isThought, signsThoughts } from '../../stages/conversations/standing.ts';
import { createStore } from '../../stages/conversations/store.ts';
import { asRequest } from '../sessions/as-request.ts';
import { bodyOf } from '../sessions/session.ts';
import type { Conversation } from '../sessions/session.ts';

/** A block of a conversation, and what goes out for it. */
export interface SentBlock {
  /** The block's own number in the request. */
  readonly index: number;
  /** The number of the item that holds it; -1 for one before all of them. */
  readonly item: number;
  readonly text: string;
  /** The same as `text` where nothing was done to it. */
  readonly sent: string;
  /** Of `text`, by the fixed estimator. */
  readonly estimated: number;
}

export interface Play {
  /** What goes out for the first so many items. `isCold`: from now on old results are left out. */
  send(items: number, isCold: boolean): Promise<readonly SentBlock[]>;
  /** True where a thought is signed over something of the first so many items: nothing of them may be left out then. */
  isBound(items: number): boolean;
  /** The results that are left out by now, and those of them whose call comes again later, word for word. */
  forgotten(): { readonly results: number; readonly askedAgain: number };
}

export function playConversation(
  conversation: Conversation,
  compressor: Pick<ConversationCompressor, 'compress'>,
  settings: JobOptions,
): Play {
  const body = bodyOf(conversation, itemsOf(conversation));
  const request = asRequest(conversation.dialect, body);
  const original = request.original.blocks();
  const isSigned = signsThoughts(request.original);
  const forgets = mayForget(body);
  const { blocks } = withParts(toConversationBlocks(request), {
    longTokens: settings.longResultsTokens ?? 0,
    body,
    // Of each result it was decided when it was new, before anything was written to its file since.
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
      thresholdTokens: leftForBlocks(body, settings.thresholdTokens),
      forgets,
    },
    maxTimeMs: 0,
    signal: createCanceller().signal,
  };
  const mayGo = !forgets && settings.mode !== 'strict';
  return {
    async send(items, isCold) {
      const held = blocks.filter(({ message = -1 }) => message < items);
      const { outcomes } = await compressForgetting(held, limits, isCold && mayGo);
      return outcomes.map(({ index, text, tokensBefore }) => {
        const { message: item, text: before } = original[index]!;
        return { index, item, text: before, sent: text ?? before, estimated: tokensBefore };
      });
    },
    isBound: (items) =>
      isSigned && original.some((block) => isThought(block) && block.message < items),
    forgotten() {
      const gone = withForgotten(blocks, limits.memory).filter(
        (block) => block.forgotten !== undefined,
      );
      const isAskedAgain = (one: (typeof gone)[number]): boolean =>
        blocks.some(
          ({ index, kind, toolInput, toolName }) =>
            kind === 'tool_result' &&
            index > one.index &&
            toolName === one.toolName &&
            JSON.stringify(toolInput) === JSON.stringify(one.toolInput),
        );
      return { results: gone.length, askedAgain: gone.filter(isAskedAgain).length };
    },
  };
}

/** Items of the longest request. */
export function itemsOf({ requests }: Conversation): number {
  return Math.max(...requests.map(({ items }) => items));
}
