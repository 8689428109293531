/** Where a request body defines tools that the client runs, in any dialect. */
import { isObject, listOf, stringOf } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';
import type { JsonPath } from '../model/block.ts';

/** A tool, or a namespace of tools, with the places of the parts that may be shortened. */
export interface Definition {
  readonly name: string;
  /** The text and its place; undefined if there is none. */
  readonly description: { readonly path: JsonPath; readonly text: string } | undefined;
  /** The JSON Schema of its input and its place. */
  readonly schema: { readonly path: JsonPath; readonly value: JsonObject } | undefined;
  /** The namespace it belongs to. */
  readonly namespace: string | undefined;
  /** True for one that the model does not see until it has searched for it. */
  readonly isDeferred: boolean;
  /** Whether the provider should enforce the schema, as far as the definition says. */
  readonly strict: unknown;
}

const SCHEMAS = ['input_schema', 'parameters', 'parametersJsonSchema', 'parameters_json_schema'];
/** Nested lists of tools; a chat tool has its definition in a member. */
const INNER_LISTS = ['functionDeclarations', 'function_declarations', 'tools'];
const INNER = ['function', 'custom'];
/** All others are the provider's own: it reads them by their type. */
const OWN_TYPES: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom', 'namespace']);

/**
 * Path length of the most deeply nested tools, those of a namespace in the input; anything deeper
 * is not a tool.
 */
const MAX_PATH = 7;

/** An entry in a list of tools, run by client or provider, with its place. */
export interface ListedTool {
  readonly tool: JsonObject;
  readonly path: JsonPath;
}

/** Returns the tools declared before the conversation, in the order of the body's members. */
export function listedTools(body: unknown): readonly ListedTool[] {
  if (!isObject(body)) return [];
  return ['tools', 'functions'].flatMap((name) => listedIn(body[name], [name]));
}

function listedIn(tools: unknown, path: JsonPath): readonly ListedTool[] {
  if (isObject(tools)) return [{ tool: tools, path }];
  return listOf(tools).flatMap((tool, at) =>
    isObject(tool) ? [{ tool, path: [...path, at] }] : [],
  );
}

/** Returns every definition in `body`, including later ones among its input items. */
export function definitionsIn(body: unknown): readonly Definition[] {
  const later = isObject(body) ? listOf(body['input']) : [];
  return [
    ...listedTools(body),
    ...later.flatMap((item, at) =>
      isObject(item) && item['type'] === 'additional_tools'
        ? listedIn(item['tools'], ['input', at, 'tools'])
        : [],
    ),
  ].flatMap(definitionsOf);
}

function definitionsOf({ tool, path }: ListedTool): readonly Definition[] {
  if (!OWN_TYPES.has(tool['type']) || path.length > MAX_PATH) return [];
  const member = INNER.find((name) => isObject(tool[name]));
  if (member !== undefined)
    return definitionsOf({ tool: tool[member] as JsonObject, path: [...path, member] });
  const text = stringOf(tool['description']);
  const schema = SCHEMAS.find((name) => isObject(tool[name]));
  const own: Definition = {
    name: stringOf(tool['name']) ?? '',
    description: text === undefined ? undefined : { path: [...path, 'description'], text },
    schema:
      schema === undefined
        ? undefined
        : { path: [...path, schema], value: tool[schema] as JsonObject },
    namespace: undefined,
    isDeferred: tool['defer_loading'] === true,
    strict: tool['strict'],
  };
  const inner = INNER_LISTS.flatMap((list) => listedIn(listOf(tool[list]), [...path, list]));
  const isNamespace = tool['type'] === 'namespace';
  return [
    own,
    ...inner
      .flatMap(definitionsOf)
      .map((one) => (isNamespace ? { ...one, namespace: own.name } : one)),
  ];
}
