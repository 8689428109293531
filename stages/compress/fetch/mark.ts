/** The marker in a shortened result that tells the model how to fetch the whole of it. */
import { estimateTokens } from '../../model/tokens.ts';
import { textId } from '../../originals/fetch-tool.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import type { Compressed } from '../rules/rule.ts';
import { MARK } from '../text/marker.ts';

/** The compressed form of a block, reduced to what shows whether anything is missing. */
interface CompressedForm extends Pick<Compressed, 'text' | 'removed'> {
  readonly tokensLeftOut?: number;
  /** The texts of a document, each compressed on its own. */
  readonly parts?: readonly Pick<Compressed, 'removed'>[];
}

/** `[svc the whole result: mcp__svc__get_block with id 3vQB7B6MrGQZ]` */
export function fetchMark(tool: string, text: string): string {
  return `${MARK}the whole result: ${tool} with id ${textId(text)}]`;
}

/**
 * Returns the text to send for a block that was compressed to `made`. The fetch marker is its last
 * line where lines are missing, the client has the tool, and at least `minSaved` tokens are still
 * saved.
 */
export function withFetchMark(
  block: ConversationBlock,
  made: CompressedForm,
  minSaved: (tokens: number) => number,
): string {
  const { fetchTool, pointerText, text } = block;
  // A pointer's text belongs to another block, and the client does not know it under this id.
  if (fetchTool === undefined || pointerText !== undefined || !isLossy(made)) return made.text;
  const lineBreak = made.text.endsWith('\n') ? '' : '\n';
  const marked = `${made.text}${lineBreak}${fetchMark(fetchTool, text)}`;
  const tokens = estimateTokens(text);
  return tokens - estimateTokens(marked) < minSaved(tokens) ? made.text : marked;
}

function isLossy({ removed, tokensLeftOut, parts = [] }: CompressedForm): boolean {
  return (
    removed.length > 0 ||
    tokensLeftOut !== undefined ||
    parts.some((part) => part.removed.length > 0)
  );
}
