/**
 * Compresses conversations one after another, with everything that makes the
 * next turn quick. The same object works in a thread of its own and, for small
 * conversations, right where the request is.
 */
import { createBlockCache } from './cache.ts';
import { CODE_EXTENSIONS, loadCodeTools } from './code-tools.ts';
import type { CommentLines } from './compressor.ts';
import type { BlockOutcome, Watch } from './conversation.ts';
import type { CacheFigures, CompressJob, JobOutcome } from './job.ts';
import { ConversationMemo } from './memo.ts';

/** Conversations whose state is kept for their next turn. */
const MAX_CONVERSATIONS = 32;
/** A block of this many characters takes a millisecond or more. */
const LONG_CHARS = 4096;

export interface ConversationCompressor {
  /** The outcomes of all blocks. `tell` hears those so far, each once, before a block that may take long. */
  compress(
    job: CompressJob,
    tell?: (outcomes: readonly JobOutcome[]) => void,
  ): Promise<readonly JobOutcome[]>;
  figures(): CacheFigures;
}

/** A compressor with a speed cache of `cacheEntries` results. */
export function createConversationCompressor(cacheEntries: number): ConversationCompressor {
  const cache = createBlockCache(cacheEntries);
  const memo = new ConversationMemo(cacheEntries > 0 ? MAX_CONVERSATIONS : 0);
  const code = createCodeTools();
  return {
    async compress({ blocks, options }, tell) {
      const commentLines = options.mode === 'aggressive' ? await code() : undefined;
      const full = commentLines === undefined ? options : { ...options, commentLines };
      let told = 0;
      const watch: Watch = (decided, next) => {
        if (next.text.length < LONG_CHARS || decided.length === told) return;
        tell?.(decided.slice(told).map(withoutKeptText));
        told = decided.length;
      };
      return memo.compress(blocks, full, cache, watch).map(withoutKeptText);
    },
    figures: () => ({
      entries: cache.entries,
      sizeBytes: cache.sizeBytes,
      hits: cache.hits,
      misses: cache.misses,
    }),
  };
}

function withoutKeptText({ text, ...rest }: BlockOutcome): JobOutcome {
  return { ...rest, text: rest.changed ? text : undefined };
}

/**
 * Parsers for every language, loaded together when the first aggressive conversation
 * comes. One at a time would not do: what is done with a block must not depend on which
 * languages other blocks, or other conversations, have needed before.
 */
function createCodeTools(): () => Promise<CommentLines> {
  let tools: Promise<CommentLines> | undefined;
  return () => (tools ??= loadCodeTools(CODE_EXTENSIONS));
}
