/** How large a request is that goes out as it came, for its trace: nobody waits for the count of a large one. */
import type { ProxyRequest } from '../../model/request.ts';
import { estimateTokens } from '../../model/tokens.ts';

/** Larger bodies are not read for it: that would hold up the event loop for a millisecond and more. */
const COUNTED_BYTES = 128 * 1024;
/** Of the bodies of all dialects, roughly. */
const BYTES_PER_TOKEN = 4;

/** Estimated tokens of the blocks of `request`; 0 where it asks no model. */
export function unchangedTokens({ original }: ProxyRequest): number {
  const { body, endpoint } = original;
  if (endpoint.operation !== 'generate') return 0;
  if (body.untouchable === 'size' || body.bytes.length > COUNTED_BYTES)
    return Math.round(body.bytes.length / BYTES_PER_TOKEN);
  return original.blocks().reduce((sum, { text }) => sum + estimateTokens(text), 0);
}
