/** What tools gave back in one request, in the forms that a row has it in: stored, as JSON, and as CSV. */
import type { ToolResults } from '../../model/tool-use.ts';

type Stored = readonly [tool: string, calls: number, failed: number, tokens: number, sent: number];

/** As a cell of the ledger. */
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

export function resultsFromText(text: string): readonly ToolResults[] {
  return (JSON.parse(text) as Stored[]).map(([tool, calls, failed, tokens, sentTokens]) => ({
    tool,
    calls,
    failed,
    tokens,
    sentTokens,
  }));
}

/** In the spelling of other answers. */
export function resultsToJson(results: readonly ToolResults[]) {
  return results.map(({ tool, calls, failed, tokens, sentTokens }) => ({
    tool,
    calls,
    failed_calls: failed,
    result_tokens: tokens,
    sent_result_tokens: sentTokens,
  }));
}

/** `Bash=2/0/1200/300 Read=1/0/80/80`: calls, failed ones, tokens and sent tokens. A name has no space. */
export function resultsToWords(results: readonly ToolResults[]): string {
  return results.map(resultWords).join(' ');
}

/** `Bash=2/0/1200/300`, likewise. */
export function resultWords({ tool, calls, failed, tokens, sentTokens }: ToolResults): string {
  return `${tool}=${calls}/${failed}/${tokens}/${sentTokens}`;
}
