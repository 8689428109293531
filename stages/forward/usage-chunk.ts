/**
 * A chat stream reports its usage only if asked to. Where the client did not
 * ask, we do, and take the extra chunk out again before the client sees it.
 */
import { createSplitter } from '../wire/sse-split.ts';
import { toChunk } from '../model/frame.ts';
import type { ChunkFrame } from '../model/frame.ts';
import { isRewritable, setParam } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';

/** True if neither the client nor the configuration said whether the stream reports its usage. */
export function mustAskForUsage(request: ProxyRequest): boolean {
  const { dialect, facts } = request.original;
  if (dialect.name !== 'chat' || !facts.stream || facts.usageWish !== 'unsaid') return false;
  return isRewritable(request) && !request.edits.params.has('stream_options');
}

/** The request with `stream_options.include_usage`; other stream options stay. */
export function askForUsage(request: ProxyRequest): ProxyRequest {
  const { json } = request.original;
  const options: unknown =
    typeof json === 'object' && json !== null && 'stream_options' in json
      ? json.stream_options
      : undefined;
  const kept = typeof options === 'object' && options !== null ? options : {};
  return setParam(request, 'stream_options', { ...kept, include_usage: true });
}

function isUsageOnly(data: string): boolean {
  if (!data.includes('"usage"') || !data.includes('"choices"')) return false;
  try {
    const chunk: unknown = JSON.parse(data);
    if (typeof chunk !== 'object' || chunk === null) return false;
    if (!('choices' in chunk) || !('usage' in chunk)) return false;
    const { choices, usage } = chunk;
    return (
      Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null
    );
  } catch {
    return false;
  }
}

/** Passes an answer's bytes through, without the event that only reports usage. It holds back one unfinished event at most. */
export interface UsageChunkFilter {
  push(bytes: Buffer): ChunkFrame;
  /** What was still held at the end of the answer. */
  end(): ChunkFrame | undefined;
}

export function createUsageChunkFilter(): UsageChunkFilter {
  const splitter = createSplitter();
  return {
    push(bytes) {
      const pieces = splitter.push(bytes);
      const kept = pieces.filter((piece) => piece.data === undefined || !isUsageOnly(piece.data));
      const all = Buffer.concat(pieces.map((piece) => piece.bytes));
      if (kept.length === pieces.length) return toChunk(all);
      const shown = Buffer.concat(kept.map((piece) => piece.bytes));
      return Object.freeze({ kind: 'chunk', bytes: shown, metered: all });
    },
    end() {
      const rest = splitter.rest();
      return rest === undefined ? undefined : toChunk(rest.bytes);
    },
  };
}
