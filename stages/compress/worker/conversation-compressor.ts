/**
 * Compresses conversations one after another, with everything that makes the
 * next turn quick. The same object works in a thread of its own and, for small
 * conversations, right where the request is.
 */
import { createBlockCache } from '../pass/cache.ts';
import { createCodeTools, type CodeTools } from '../rules/code/code-tools.ts';
import type { BlockOutcome, Watch } from '../pass/conversation.ts';
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

/** A compressor with a speed cache of `cacheEntries` results. Several may share their `code` tools and what they `compile`. */
export function createConversationCompressor(
  cacheEntries: number,
  code: CodeTools = createCodeTools(),
  compile: (set: RecipeSet) => Rewriter = createRecipeCompiler(),
) {
  const cache = createBlockCache(cacheEntries);
  const memo = new ConversationMemo(cacheEntries > 0 ? MAX_CONVERSATIONS : 0);
  return {
    /** The outcomes of all blocks. `report` is called with those so far, each once, before a block that may take long. */
    async compress(
      { blocks, options }: CompressJob,
      report?: (outcomes: readonly JobOutcome[]) => void,
    ): Promise<readonly JobOutcome[]> {
      code.forgetFailures();
      const isCodeTouched = options.mode === 'aggressive';
      const { recipes, ...plain } = options;
      const full = {
        ...plain,
        definitions: code.definitions,
        ...(isCodeTouched && { commentLines: code.commentLines }),
        ...(recipes !== undefined && { rewriter: compile(recipes) }),
      };
      let reported = 0;
      const watch: Watch = (decided, next) => {
        if (next.text.length < LONG_CHARS || decided.length <= reported) return;
        report?.(decided.slice(reported).map(withoutKeptText));
        reported = decided.length;
      };
      for (;;) {
        try {
          return memo.compress(blocks, full, cache, watch).map(withoutKeptText);
        } catch (thrown) {
          if (!(thrown instanceof GrammarNeeded) || thrown.trouble !== undefined) throw thrown;
          // From the beginning again, which comes to the same and is quick: results are kept.
          await code.load(thrown.grammar);
        }
      }
    },
    figures: cache.figures,
  };
}

function withoutKeptText({ text, ...rest }: BlockOutcome): JobOutcome {
  return { ...rest, text: rest.changed ? text : undefined };
}
