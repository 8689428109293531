/**
 * The definitions of tools that requests carry, and their sizes. Every request of an agent carries the
 * same ones: the newest are remembered by their text.
 */
import { LRUCache } from 'lru-cache';
import { isObject } from '../dialect/json-kind.ts';
import { definitionsIn } from '../dialect/tool-definitions.ts';
import type { Original, ProxyRequest } from '../model/request.ts';
import { estimateTokens } from '../model/tokens.ts';
import { toolName, toolSet } from '../model/tool-use.ts';
import type { ToolSet } from '../model/tool-use.ts';

/** The definitions of a request, and the size of all that it lists as tools; undefined where it lists none. */
export type ToolSets = (request: ProxyRequest) => SizedToolSet | undefined;

export interface SizedToolSet {
  /** Of the tools that the client runs, each by itself. */
  readonly set: ToolSet;
  /** Estimated tokens of the whole lists, with the provider's own tools. */
  readonly size: number;
}

/** Characters of the texts that sets are remembered by: some dozens of sets. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Makes the reader, with a memory of its own. */
export function createToolSets(): ToolSets {
  const known = new LRUCache<string, SizedToolSet>({
    maxSize: MAX_CHARS,
    sizeCalculation: (_set, text) => text.length,
  });
  // The meter asks twice of each request, and writing some hundred kilobytes of tools takes a while.
  const ofRequest = new WeakMap<Original, SizedToolSet | undefined>();
  const find = (json: unknown): SizedToolSet | undefined => {
    if (!isObject(json)) return undefined;
    const { tools, functions } = json;
    if (tools === undefined && functions === undefined) return undefined;
    const text = JSON.stringify([tools, functions]);
    let found = known.get(text);
    if (found === undefined) known.set(text, (found = read(tools, functions)));
    return found;
  };
  return ({ original }) => {
    if (!ofRequest.has(original)) ofRequest.set(original, find(original.json));
    return ofRequest.get(original);
  };
}

function read(tools: unknown, functions: unknown): SizedToolSet {
  const sizeOf = (value: unknown) =>
    value === undefined ? 0 : estimateTokens(JSON.stringify(value));
  const byName = new Map<string, number>();
  for (const { name, description, schema } of definitionsIn({ tools, functions })) {
    // A list of definitions, which has no more than those.
    if (name === '') continue;
    const own = toolName(name);
    const texts = [name, description?.text ?? ''].map(estimateTokens);
    const tokens = texts.reduce((sum, each) => sum + each, sizeOf(schema?.value));
    byName.set(own, (byName.get(own) ?? 0) + tokens);
  }
  return Object.freeze({ set: toolSet(byName), size: sizeOf(tools) + sizeOf(functions) });
}
