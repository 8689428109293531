/**
 * The tool definitions in requests, and their sizes. Every request of an agent has the same ones,
 * so the newest are cached by their text.
 */
import { LRUCache } from 'lru-cache';
import { isObject } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import { definitionsIn } from '../dialect/tool-definitions.ts';
import type { Original, ProxyRequest } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import { toolsInPrompt } from './loaded-tools.ts';
import { toolName, toolSet } from '../model/tool-use.ts';
import type { ToolSet } from '../model/tool-use.ts';

/**
 * Returns the tool definitions of a request and the size of its whole tool lists; undefined if
 * it has none.
 */
export type ToolSets = (request: ProxyRequest) => SizedToolSet | undefined;

export interface SizedToolSet {
  /** The client's tools, one by one. */
  readonly set: ToolSet;
  /** Estimated tokens of the whole lists, including the provider's own tools. */
  readonly size: number;
}

/** Characters of the cached texts: some dozens of sets. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Creates the reader, with a cache of its own. */
export function createToolSets(): ToolSets {
  const known = new LRUCache<string, SizedToolSet>({
    maxSize: MAX_CHARS,
    sizeCalculation: (_set, text) => text.length,
  });
  const find = ({ json }: Original): SizedToolSet | undefined => {
    if (!hasTools(json)) return undefined;
    const { functions } = json;
    const { tools, loaded } = toolsInPrompt(json);
    const text = JSON.stringify([tools, functions, loaded]);
    let sized = known.get(text);
    if (sized === undefined) known.set(text, (sized = read(tools, functions)));
    return sized;
  };
  // The meter calls this twice per request, and serializing hundreds of kilobytes of tools is slow.
  return ({ original }) => original.once(find);
}

function hasTools(json: unknown): json is JsonObject {
  return isObject(json) && (json['tools'] !== undefined || json['functions'] !== undefined);
}

function read(tools: unknown, functions: unknown): SizedToolSet {
  const sizeOf = (value: unknown) =>
    value === undefined ? 0 : estimateTokens(JSON.stringify(value));
  const byName = new Map<string, number>();
  for (const { name, description, schema } of definitionsIn({ tools, functions })) {
    // A nameless entry is a list of definitions and has no text of its own.
    if (name === '') continue;
    const own = toolName(name);
    const texts = [name, description?.text ?? ''].map(estimateTokens);
    const tokens = texts.reduce((sum, each) => sum + each, sizeOf(schema?.value));
    byName.set(own, (byName.get(own) ?? 0) + tokens);
  }
  return Object.freeze({ set: toolSet(byName), size: sizeOf(tools) + sizeOf(functions) });
}
