/** The tools of a messages request. */
import type { CanonicalTool, JsonObject } from '../canonical.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { leaveOutProviderTools } from '../translate/hosted.ts';
import { booleanOf, defined, filledString, objectOf, objectsOf, stringOf } from '../json-kind.ts';

/**
 * In the list only so that the provider knows that tools will be loaded later; it can never be
 * called.
 */
const PLACEHOLDER = 'DeferredToolPlaceholder';

/**
 * Reads the tools that the model may call. Throws `unprocessable` if it requires one that its
 * provider defines.
 */
export function readMessagesTools(body: JsonObject, context: ReadRequestContext): CanonicalTool[] {
  const read = new Map<string, CanonicalTool>();
  const hosted: string[] = [];
  for (const tool of objectsOf(body.tools)) {
    const type = stringOf(tool.type);
    if (type !== undefined && type !== 'custom') hosted.push(type);
    else if (tool.name !== PLACEHOLDER) read.set(nameOf(tool), readTool(tool));
    if (tool.defer_loading === true) context.note(OFFERED_AT_ONCE);
  }
  if (Array.isArray(body.mcp_servers) && body.mcp_servers.length > 0) hosted.push('MCP servers');
  for (const tool of addedTools(body.messages)) if (!read.has(tool.name)) read.set(tool.name, tool);
  leaveOutProviderTools(hosted, read.size, context);
  return [...read.values()];
}

const OFFERED_AT_ONCE =
  'tools to be loaded by a search are offered at once: only their provider loads them';

function nameOf(tool: JsonObject): string {
  return stringOf(tool.name) ?? '';
}

/** Reads one tool that the client runs. */
function readTool(tool: JsonObject): CanonicalTool {
  return defined({
    name: nameOf(tool),
    description: filledString(tool.description),
    schema: objectOf(tool.input_schema),
    strict: booleanOf(tool.strict),
  });
}

/**
 * Returns the tools that messages within the conversation define, or a summary of such messages.
 */
function addedTools(messages: unknown): CanonicalTool[] {
  return objectsOf(messages)
    .flatMap(({ role, content }) => {
      const blocks = objectsOf(content);
      const summed = blocks.flatMap(({ tool_changes: changes }) => objectsOf(changes));
      return role === 'system' ? [...blocks, ...summed] : summed;
    })
    .filter(({ type }) => type === 'tool_addition')
    .map(({ tool }) => objectOf(objectOf(tool).definition))
    .filter(({ name }) => filledString(name) !== undefined)
    .map(readTool);
}
