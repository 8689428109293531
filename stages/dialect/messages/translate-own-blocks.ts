/** Blocks that only the messages dialect has, converted to their meaning elsewhere. */
import type { JsonObject, Note, TextBlock } from '../canonical.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { filledString, objectOf, stringOf } from '../json-kind.ts';
import { readUnknown, type BlockPlace } from '../translate/readable.ts';

/**
 * Calls of tools that the provider runs, and markers of which model took over: their outcome is
 * beside them.
 */
const OF_THE_PROVIDER = new Set(['server_tool_use', 'mcp_tool_use', 'fallback']);

/**
 * Reads a block that is not in every dialect. Undefined if the conversation can do without it;
 * throws `unprocessable` if it cannot.
 */
export function readOwnBlock(
  block: JsonObject,
  place: BlockPlace,
  { note }: Pick<ReadRequestContext, 'note'>,
): TextBlock | undefined {
  const tool = toolNameIn(block);
  switch (block.type) {
    // The tools it names are declared with the request, and offered from the beginning.
    case 'tool_reference':
    case 'tool_addition':
      return { kind: 'text', text: `Tool ${tool} can be called now.` };
    case 'tool_removal':
      return { kind: 'text', text: `Tool ${tool} can no longer be called.` };
    case 'compaction':
      return readSummary(block, note);
    default:
      if (place !== 'user' && OF_THE_PROVIDER.has(stringOf(block.type) ?? '')) {
        note(`${String(block.type)} left out: its result is in the adjacent text`);
        return undefined;
      }
      return readUnknown(block, place, note);
  }
}

/**
 * Returns the provider's summary of the preceding conversation. Without a text it failed, and the
 * provider ignores it.
 */
function readSummary(block: JsonObject, note: Note): TextBlock | undefined {
  const text = filledString(block.content);
  if (text !== undefined) return { kind: 'text', text };
  note(droppedParts.failedSummary);
  return undefined;
}

/** Returns the name in a reference, also inside a change of the tools. */
function toolNameIn(block: JsonObject): string {
  const tool = block.type === 'tool_reference' ? block : objectOf(block.tool);
  const defined = objectOf(tool.definition);
  return stringOf(tool.tool_name) ?? stringOf(tool.name) ?? stringOf(defined.name) ?? '';
}
