/**
 * Compresses conversations one after another, with the caches that make the next turn fast. The
 * same code runs in a thread of its own and, for small conversations, inline.
 */
import { createBlockCache } from '../pass/cache.ts';
import { createCodeTools, type CodeTools } from '../rules/code/code-tools.ts';
import { compressConversation, emptyState } from '../pass/conversation.ts';
import type {
  BlockOutcome,
  ConversationOptions,
  ConversationState,
  OnBlockDecided,
} from '../pass/conversation.ts';
import { GrammarNeeded } from '../rules/code/grammar-needed.ts';
import type { CompressJob, JobOutcome } from './job.ts';
import { ConversationMemo } from '../pass/memo.ts';
import type { RecipeSet } from '../../model/pass.ts';
import { createRecipeCompiler } from '../recipe/set.ts';
import type { Rewriter } from '../rules/rewrite.ts';

/** Conversations whose state is kept for their next turn. */
const MAX_CONVERSATIONS = 32;
/** A block of this many characters takes a millisecond or more. */
const LONG_CHARS = 4096;

export type ConversationCompressor = ReturnType<typeof createConversationCompressor>;

/**
 * Creates a compressor with a cache of `cacheEntries` results. Several may share `code` tools and a
 * recipe compiler.
 */
export function createConversationCompressor(
  cacheEntries: number,
  code: CodeTools = createCodeTools(),
  compile: (set: RecipeSet) => Rewriter = createRecipeCompiler(),
) {
  const cache = createBlockCache(cacheEntries);
  const memo = new ConversationMemo(cacheEntries > 0 ? MAX_CONVERSATIONS : 0);
  const fullOptions = (options: CompressJob['options']): ConversationOptions => {
    code.forgetFailures();
    const { recipes, ...plain } = options;
    return {
      ...plain,
      definitions: code.definitions,
      ...(options.mode === 'aggressive' && { commentLines: code.commentLines }),
      ...(recipes !== undefined && { rewriter: compile(recipes) }),
    };
  };
  /**
   * Runs `pass`, and reruns it from the start once a missing grammar is loaded; that is fast, as
   * results are cached.
   */
  const withGrammars = async <T>(pass: () => T): Promise<T> => {
    for (;;) {
      try {
        return pass();
      } catch (thrown) {
        if (!(thrown instanceof GrammarNeeded) || thrown.reason !== undefined) throw thrown;
        await code.load(thrown.grammar);
      }
    }
  };
  return {
    /**
     * Returns the outcomes of all blocks. `report` receives new outcomes, each once, before a block
     * that may take long.
     */
    async compress(
      { blocks, options }: CompressJob,
      report?: (outcomes: readonly JobOutcome[]) => void,
    ): Promise<readonly JobOutcome[]> {
      const full = fullOptions(options);
      let reported = 0;
      const watch: OnBlockDecided = (decided, next) => {
        if (next.text.length < LONG_CHARS || decided.length <= reported) return;
        report?.(decided.slice(reported).map(withoutKeptText));
        reported = decided.length;
      };
      return withGrammars(() => memo.compress(blocks, full, cache, watch).map(withoutKeptText));
    },
    /**
     * Recomputes without any cached state, as after a restart; returns the state after the last
     * block.
     */
    compressUncached({ blocks, options }: CompressJob): Promise<ConversationState> {
      const full = fullOptions(options);
      return withGrammars(() => {
        const state = emptyState();
        compressConversation(blocks, full, undefined, state);
        return state;
      });
    },
    figures: cache.figures,
  };
}

function withoutKeptText({ text, ...rest }: BlockOutcome): JobOutcome {
  return { ...rest, text: rest.changed ? text : undefined };
}
