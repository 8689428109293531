/**
 * Compresses conversations one after another, with everything that makes the
 * next turn quick. The same object works in a thread of its own and, for small
 * conversations, right where the request is.
 */
import { createBlockCache } from './cache.ts';
import { loadCodeTools } from './code-tools.ts';
import type { CommentLines } from './compressor.ts';
import { hintsOf } from './conversation.ts';
import type { BlockOutcome, ConversationBlock } from './conversation.ts';
import type { CacheFigures, CompressJob, JobOutcome } from './job.ts';
import { ConversationMemo } from './memo.ts';

/** Conversations whose state is kept for their next turn. */
const MAX_CONVERSATIONS = 32;

export interface ConversationCompressor {
  compress(job: CompressJob): Promise<readonly JobOutcome[]>;
  figures(): CacheFigures;
}

/** A compressor with a speed cache of `cacheEntries` results. */
export function createConversationCompressor(cacheEntries: number): ConversationCompressor {
  const cache = createBlockCache(cacheEntries);
  const memo = new ConversationMemo(cacheEntries > 0 ? MAX_CONVERSATIONS : 0);
  const code = createCodeTools();
  return {
    async compress({ blocks, options }) {
      const commentLines =
        options.mode === 'aggressive' ? await code.ready(extensionsOf(blocks)) : undefined;
      const full = commentLines === undefined ? options : { ...options, commentLines };
      return memo.compress(blocks, full, cache).map(withoutKeptText);
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

function extensionsOf(blocks: readonly ConversationBlock[]): Set<string> {
  const extensions = new Set<string>();
  for (const block of blocks) {
    const extension = /\.([A-Za-z0-9]+)$/.exec(hintsOf(block).path ?? '')?.[1];
    if (extension !== undefined) extensions.add(extension.toLowerCase());
  }
  return extensions;
}

/** Parsers by file extension, each loaded when the first file of its kind turns up. */
function createCodeTools() {
  const byExtension = new Map<string, CommentLines>();
  const commentLines: CommentLines = (text, extension) =>
    byExtension.get(extension)?.(text, extension);
  return {
    async ready(extensions: ReadonlySet<string>): Promise<CommentLines> {
      const missing = [...extensions].filter((extension) => !byExtension.has(extension));
      if (missing.length > 0) {
        const tools = await loadCodeTools(missing);
        for (const extension of missing) byExtension.set(extension, tools);
      }
      return commentLines;
    },
  };
}
