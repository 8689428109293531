/**
 * The tools of a responses request, wherever they are declared: in `tools`, in input items of type
 * `additional_tools`, and in the results of a tool search.
 */
import type { CanonicalMessage, CanonicalTool, JsonObject } from '../canonical.ts';
import { readFunction } from '../chat/translate-read.ts';
import type { ClientOptions, ReadRequestContext } from '../translate/dialect.ts';
import { freeformTool } from '../translate/freeform.ts';
import { leaveOutProviderTools } from '../translate/hosted.ts';
import { exactJson } from '../exact-json.ts';
import { filledString, objectOf, objectsOf, stringOf } from '../json-kind.ts';

/** The name of the client's tool search for models of other dialects. */
export const TOOL_SEARCH = 'tool_search';

/**
 * One tool with its name; a tool in a namespace has a dotted name, which no other tool can have.
 */
interface Declared {
  readonly name: string;
  readonly tool: JsonObject;
}

/** Returns every tool of the request in order; of duplicates the later counts. */
function declaredTools(body: JsonObject): Declared[] {
  const items = objectsOf(body.input).filter(
    ({ type }) => type === 'additional_tools' || type === 'tool_search_output',
  );
  const declared = new Map<string, Declared>();
  for (const list of [body.tools, ...items.map((item) => item.tools)]) {
    for (const one of flattened(list, '')) {
      declared.set(one.name === '' ? `:${stringOf(one.tool.type) ?? ''}` : one.name, one);
    }
  }
  return [...declared.values()];
}

function flattened(tools: unknown, prefix: string): Declared[] {
  return objectsOf(tools).flatMap((tool) => {
    const name = stringOf(tool.name) ?? '';
    return tool.type === 'namespace'
      ? flattened(tool.tools, `${prefix}${name}.`)
      : { name: name === '' ? '' : prefix + name, tool };
  });
}

/** Returns the names of all tools in a list. */
export function namesOf(tools: unknown): string[] {
  return flattened(tools, '').map(({ name }) => name);
}

/**
 * Returns true for a search that the client runs itself, over tools that it has not declared yet.
 */
export function isClientSearch({ type, execution }: JsonObject): boolean {
  return (
    (type === 'tool_search' || type === 'tool_search_call' || type === 'tool_search_output') &&
    execution === 'client'
  );
}

/** Returns the arguments of such a search as JSON text; on the wire they are an object. */
export function searchInput(item: JsonObject): string {
  return exactJson(objectOf(item.arguments));
}

/** Throws `unprocessable` for tools that the conversation requires. */
export function readResponsesTools(body: JsonObject, context: ReadRequestContext): CanonicalTool[] {
  const hosted: string[] = [];
  const read = declaredTools(body).flatMap(({ name, tool }) => {
    if (tool.type === 'function') return { ...readDeclared(tool, context), name };
    if (tool.type === 'custom')
      return { ...freeformTool(tool, objectOf(tool.format), context.note), name };
    if (isClientSearch(tool)) return { ...readDeclared(tool, context), name: TOOL_SEARCH };
    hosted.push(stringOf(tool.type) ?? '');
    return [];
  });
  leaveOutProviderTools(hosted, read.length, context);
  return read;
}

function readDeclared(tool: JsonObject, context: ReadRequestContext): CanonicalTool {
  if (tool.defer_loading === true) {
    context.note(
      'tools to be loaded by a search are offered at once: only their provider searches',
    );
  }
  return readFunction(tool);
}

/**
 * Returns which tools the client calls with something other than JSON arguments in a function call.
 */
export function callForms(body: JsonObject): Pick<ClientOptions, 'freeformTools' | 'searchTools'> {
  const declared = declaredTools(body);
  return {
    freeformTools: declared.flatMap(({ name, tool }) => (tool.type === 'custom' ? name : [])),
    searchTools: declared.some(({ tool }) => isClientSearch(tool)) ? [TOOL_SEARCH] : [],
  };
}

/**
 * Returns calls under the names of the declared tools: clients repeat a call with a namespace that
 * its tool does not have, or without the one it has.
 */
export function withDeclaredNames(
  messages: readonly CanonicalMessage[],
  tools: readonly CanonicalTool[],
): CanonicalMessage[] {
  const known = declaredName(tools);
  return messages.map((message) => ({
    ...message,
    blocks: message.blocks.map((block) =>
      block.kind === 'toolUse' ? { ...block, name: known(block.name) } : block,
    ),
  }));
}

/**
 * Returns a function that finds a tool's declared name by one with a missing or different
 * namespace.
 */
export function declaredName(tools: readonly CanonicalTool[]): (name: string) => string {
  const names = new Set(tools.map((tool) => tool.name));
  const byLastPart = new Map<string, string>();
  for (const name of names) byLastPart.set(lastPart(name), name);
  return (name) => (names.has(name) ? name : (byLastPart.get(lastPart(name)) ?? name));
}

/** Returns the name of a tool in a call or a choice, dotted if it is in a namespace. */
export function namespacedName(item: JsonObject): string {
  const name = stringOf(item.name) ?? '';
  const namespace = filledString(item.namespace);
  return namespace === undefined ? name : `${namespace}.${name}`;
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
