/** The line by which a shortened result says how the whole of it is fetched. */
import { estimateTokens } from '../../model/tokens.ts';
import { textId } from '../../originals/fetch-tool.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import type { Compressed } from '../rules/rule.ts';
import { MARK } from '../text/marker.ts';

/** What was made of a block, as far as it says whether something is missing. */
interface Made extends Pick<Compressed, 'text' | 'removed'> {
  readonly tokensLeftOut?: number;
  /** The texts of a document, each made smaller by itself. */
  readonly parts?: readonly Pick<Compressed, 'removed'>[];
}

/** `[svc the whole result: mcp__svc__get_block with id 3vQB7B6MrGQZ]` */
export function fetchMark(tool: string, text: string): string {
  return `${MARK}the whole result: ${tool} with id ${textId(text)}]`;
}

/**
 * What goes out for a block of which `made` was made: with the mark as its last line where lines are
 * missing, the client has the tool, and less still goes out than came, by `leastSaved` tokens.
 */
export function withFetchMark(
  block: ConversationBlock,
  made: Made,
  leastSaved: (tokens: number) => number,
): string {
  const { fetchTool, pointed, text } = block;
  // Of a pointer the text is another block's, which the client does not know under this id.
  if (fetchTool === undefined || pointed !== undefined || !isLossy(made)) return made.text;
  const lineBreak = made.text.endsWith('\n') ? '' : '\n';
  const marked = `${made.text}${lineBreak}${fetchMark(fetchTool, text)}`;
  const tokens = estimateTokens(text);
  return tokens - estimateTokens(marked) < leastSaved(tokens) ? made.text : marked;
}

function isLossy({ removed, tokensLeftOut, parts = [] }: Made): boolean {
  return (
    removed.length > 0 ||
    tokensLeftOut !== undefined ||
    parts.some((part) => part.removed.length > 0)
  );
}
