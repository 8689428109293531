/** What tools returned in one request, in the formats of a row: stored, as JSON, and as CSV. */
import type { ToolResults } from '../../model/tool-use.ts';

type Stored = readonly [tool: string, calls: number, failed: number, tokens: number, sent: number];

/** Formats them as a cell of the ledger. */
export function resultsToText(results: readonly ToolResults[]): string {
  return JSON.stringify(
    results.map(({ tool, calls, failed, tokens, sentTokens }): Stored => [
      tool,
      calls,
      failed,
      tokens,
      sentTokens,
    ]),
  );
}

export function parseResults(text: string): readonly ToolResults[] {
  return (JSON.parse(text) as Stored[]).map(([tool, calls, failed, tokens, sentTokens]) => ({
    tool,
    calls,
    failed,
    tokens,
    sentTokens,
  }));
}

/** Formats them as in other responses. */
export function resultsToJson(results: readonly ToolResults[]) {
  return results.map(({ tool, calls, failed, tokens, sentTokens }) => ({
    tool,
    calls,
    failed_calls: failed,
    result_tokens: tokens,
    sent_result_tokens: sentTokens,
  }));
}

/**
 * Formats them as `Bash=2/0/1200/300 Read=1/0/80/80`: calls, failed calls, tokens and sent tokens.
 * A name has no space.
 */
export function resultsToCsv(results: readonly ToolResults[]): string {
  return results.map(resultToCsv).join(' ');
}

/** Formats one of them, as `Bash=2/0/1200/300`. */
export function resultToCsv({ tool, calls, failed, tokens, sentTokens }: ToolResults): string {
  return `${tool}=${calls}/${failed}/${tokens}/${sentTokens}`;
}
