/**
 * Where compression of a conversation starts: what the model reads before the blocks counts towards
 * the threshold too.
 */
import { estimateTokens } from '../../model/tokens.ts';
import { listedTools } from '../../dialect/tool-definitions.ts';

/**
 * Returns what remains of `thresholdTokens` for the blocks of a request after its tool definitions.
 * Tools loaded later do not count, as they precede nothing.
 */
export function thresholdForBlocks(body: unknown, thresholdTokens: number): number {
  let left = thresholdTokens;
  for (const { tool } of listedTools(body)) {
    if (left <= 0) return 0;
    if (tool['defer_loading'] !== true) left -= estimateTokens(JSON.stringify(tool));
  }
  return Math.max(left, 0);
}
