/**
 * Makes unchanged history nearly free: the state after a conversation's blocks is kept under a hash
 * of those blocks, and the next turn continues from it. Like every cache here it only saves time;
 * without it the same bytes result.
 */
import { createHash } from 'node:crypto';
import type { BlockCache } from './cache.ts';
import {
  compressConversation,
  emptyState,
  type BlockOutcome,
  type ConversationOptions,
  type ConversationState,
  type OnBlockDecided,
} from './conversation.ts';
import type { ConversationBlock } from './blocks.ts';
import { GrammarNeeded } from '../rules/code/grammar-needed.ts';
import { queriesOf } from './query.ts';
import { COMPRESSION_VERSION } from '../version.ts';

/** Compresses growing conversations; keeps the states of the `maxConversations` newest ones. */
export class ConversationMemo {
  private readonly states = new Map<string, ConversationState>();
  /** States of interrupted jobs about to resume: their lookups were already counted. */
  private readonly unfinished = new WeakSet<ConversationState>();
  private readonly maxConversations: number;

  constructor(maxConversations: number) {
    this.maxConversations = maxConversations;
  }

  compress(
    blocks: readonly ConversationBlock[],
    options: ConversationOptions,
    cache?: BlockCache,
    watch?: OnBlockDecided,
  ): readonly BlockOutcome[] {
    const queries = queriesOf(blocks);
    const chain = hashChain(blocks, queries, options);
    const state = this.take(chain);
    if (!this.unfinished.delete(state)) cache?.addHits(state.lookups);
    try {
      compressConversation(blocks, options, cache, state, watch, queries);
    } catch (thrown) {
      // Keeps the work done before the missing grammar.
      if (thrown instanceof GrammarNeeded) {
        this.keep(chain, state);
        this.unfinished.add(state);
      }
      throw thrown;
    }
    this.keep(chain, state);
    return [...state.outcomes];
  }

  /**
   * Removes and returns the state of the longest known beginning; it is about to grow into another
   * conversation's.
   */
  private take(chain: readonly string[]): ConversationState {
    for (const key of chain.toReversed()) {
      const state = this.states.get(key);
      if (state === undefined) continue;
      this.states.delete(key);
      return state;
    }
    return emptyState();
  }

  private keep(chain: readonly string[], state: ConversationState): void {
    // The undecided text may be decided next time.
    if (state.outcomes.some(({ undecided }) => undecided !== undefined)) return;
    const key = chain[state.outcomes.length - 1];
    if (key !== undefined) this.states.set(key, state);
    for (const oldest of this.states.keys()) {
      if (this.states.size <= this.maxConversations) break;
      this.states.delete(oldest);
    }
  }
}

/**
 * Returns one hash per block, covering all blocks up to it and the questions later in its message.
 */
function hashChain(
  blocks: readonly ConversationBlock[],
  queries: readonly string[],
  options: ConversationOptions,
): readonly string[] {
  const { definitions, commentLines, rewriter, applied, ...plain } = options;
  const isGiven = [definitions !== undefined, commentLines !== undefined];
  let previous = JSON.stringify([COMPRESSION_VERSION, plain, isGiven, rewriter?.id, applied?.id]);
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
