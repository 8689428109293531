/**
 * Makes unchanged history nearly free: the state after a conversation's blocks is kept
 * under a hash of those blocks, and the next turn goes on from there. Like every cache
 * here it saves time only; without it the same bytes come out.
 */
import { createHash } from 'node:crypto';
import type { BlockCache } from './cache.ts';
import {
  compressConversation,
  emptyState,
  type BlockOutcome,
  type ConversationBlock,
  type ConversationOptions,
  type ConversationState,
  type Watch,
} from './conversation.ts';
import { queriesOf } from './query.ts';
import { COMPRESSION_VERSION } from './version.ts';

interface Entry {
  readonly state: ConversationState;
  readonly count: number;
}

/** Compresses growing conversations; keeps the state of the `maxConversations` newest ones. */
export class ConversationMemo {
  private readonly entries = new Map<string, Entry>();
  private readonly maxConversations: number;

  constructor(maxConversations: number) {
    this.maxConversations = maxConversations;
  }

  compress(
    blocks: readonly ConversationBlock[],
    options: ConversationOptions,
    cache?: BlockCache,
    watch?: Watch,
  ): readonly BlockOutcome[] {
    const chain = hashChain(blocks, options);
    const { state, count } = this.take(chain);
    const outcomes = compressConversation(blocks, options, cache, state, count, watch);
    const key = chain.at(-1);
    if (key !== undefined) this.keep(key, { state, count: blocks.length });
    return [...outcomes];
  }

  /** The longest known beginning. It is taken out: its state is about to grow into another conversation's. */
  private take(chain: readonly string[]): Entry {
    for (let at = chain.length - 1; at >= 0; at--) {
      const entry = this.entries.get(chain[at]!);
      if (entry === undefined || entry.count !== at + 1) continue;
      this.entries.delete(chain[at]!);
      return entry;
    }
    return { state: emptyState(), count: 0 };
  }

  private keep(key: string, entry: Entry): void {
    this.entries.set(key, entry);
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.maxConversations) break;
      this.entries.delete(oldest);
    }
  }
}

/** One hash a block, each covering everything up to it, and what further down in its message is asked about it. */
function hashChain(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
): readonly string[] {
  const { mode, maxChars, thresholdTokens, logBudgetTokens, commentLines, applied } = options;
  const settings = [
    COMPRESSION_VERSION,
    mode,
    maxChars,
    thresholdTokens,
    logBudgetTokens,
    commentLines !== undefined,
    applied?.id,
  ];
  let previous = JSON.stringify(settings);
  const queries = queriesOf(blocks);
  return blocks.map((block, at) => {
    const { text, ...rest } = block;
    previous = createHash('sha1')
      .update(previous)
      .update(JSON.stringify([rest, queries[at]]))
      .update('\u0000')
      .update(text)
      .digest('base64');
    return previous;
  });
}
