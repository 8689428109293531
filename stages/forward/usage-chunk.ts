/**
 * A chat stream reports its usage only if asked to. Where the client did not
 * ask, we do, and take the extra chunk out again before the client sees it.
 */
import { eventsHolding, eventsIn } from '../wire/events.ts';
import { toChunk } from '../model/frame.ts';
import type { ChunkFrame } from '../model/frame.ts';
import { isRewritable, setParam } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';

/** True if neither the client nor the configuration sets whether the stream reports its usage. */
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

/** In every event without choices: hardly any other holds one of these. */
const EMPTY_LIST = [Buffer.from('[]'), Buffer.from('[ ]')];
const AT_BEGINNING = 0x0a0a0a;

/** A chunk of these events without the one that only reports usage, which the meter still reads. */
export function withoutUsage(bytes: Buffer): ChunkFrame {
  const kept: Buffer[] = [];
  let keptTo = 0;
  eventsHolding({ bytes, before: AT_BEGINNING }, EMPTY_LIST, (event, start, end) => {
    const [piece] = eventsIn({ bytes: event, isPart: false, before: AT_BEGINNING });
    if (piece?.data === undefined || !isUsageOnly(piece.data)) return;
    kept.push(bytes.subarray(keptTo, start));
    keptTo = end;
  });
  if (keptTo === 0) return toChunk(bytes);
  kept.push(bytes.subarray(keptTo));
  return Object.freeze({ kind: 'chunk', bytes: Buffer.concat(kept), metered: bytes });
}
