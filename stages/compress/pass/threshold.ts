/** From where on the blocks of a conversation are compressed: what the model reads before them counts too. */
import { estimateTokens } from '../../model/tokens.ts';
import { listedTools } from '../../dialect/tool-definitions.ts';

/**
 * What of `thresholdTokens` is left for the blocks of a request, behind its definitions of tools.
 * A tool that is loaded later stands in front of nothing.
 */
export function leftForBlocks(body: unknown, thresholdTokens: number): number {
  let left = thresholdTokens;
  for (const { tool } of listedTools(body)) {
    if (left <= 0) return 0;
    if (tool['defer_loading'] !== true) left -= estimateTokens(JSON.stringify(tool));
  }
  return Math.max(left, 0);
}
