/**
 * Which deferred tools a conversation has loaded. A tool with `defer_loading` is sent in every
 * request, but its provider shows it to the model, and bills it, only from the search that finds
 * it.
 */
import { isObject, listOf, objectOf, objectsOf, stringOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';

/** Returns the tools that reach the model, and the names of the loaded ones for a cache key. */
export function toolsInPrompt(body: JsonObject): {
  readonly tools: unknown;
  readonly loaded: readonly string[];
} {
  const { tools } = body;
  const list = listOf(tools);
  if (!list.some(isDeferred)) return { tools, loaded: [] };
  const named = new Set([...messageReferences(body), ...inputReferences(body)]);
  const shown = list.filter((tool) => !isDeferred(tool) || named.has(nameOf(tool)));
  return { tools: shown, loaded: shown.filter(isDeferred).map(nameOf) };
}

function isDeferred(tool: unknown): boolean {
  return isObject(tool) && tool['defer_loading'] === true;
}

function nameOf(tool: unknown): string {
  return stringOf(objectOf(tool)['name']) ?? '';
}

/**
 * Names in the messages dialect: results of searches by client or provider, and later additions.
 */
function messageReferences({ messages }: JsonObject): string[] {
  return objectsOf(messages).flatMap(({ content }) => objectsOf(content).flatMap(referencesOf));
}

function referencesOf(block: JsonObject): string[] {
  switch (block['type']) {
    case 'tool_result':
      return objectsOf(block['content']).flatMap(referencedName);
    case 'tool_search_tool_result':
      return objectsOf(objectOf(block['content'])['tool_references']).flatMap(referencedName);
    case 'tool_addition':
      return referencedName(objectOf(block['tool']));
    default:
      return [];
  }
}

function referencedName({ type, tool_name: toolName, name }: JsonObject): string[] {
  return type === 'tool_reference' ? [stringOf(toolName) ?? stringOf(name) ?? ''] : [];
}

/** Names in the responses dialect: a search's output has the definitions themselves. */
function inputReferences({ input }: JsonObject): string[] {
  return objectsOf(input).flatMap(({ type, tools }) =>
    type === 'tool_search_output' ? objectsOf(tools).map(nameOf) : [],
  );
}
