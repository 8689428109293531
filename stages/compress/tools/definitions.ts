/** Where a request body defines tools that the client runs, in any dialect. */
import { isObject, listOf, textOf } from '../../dialect/json-kind.ts';
import type { JsonObject } from '../../dialect/json-kind.ts';
import type { JsonPath } from '../../model/block.ts';
import type { DialectName } from '../../model/dialect.ts';

/** A tool, or a namespace of tools, with the places of what may be written shorter. */
export interface Definition {
  readonly name: string;
  /** The text and its place; undefined where there is none. */
  readonly description: { readonly path: JsonPath; readonly text: string } | undefined;
  /** The place of the JSON Schema of its input. */
  readonly schema: JsonPath | undefined;
  /** True if the provider holds the model to the schema, and so demands a certain form of it. */
  readonly isStrict: boolean;
}

const SCHEMAS = ['input_schema', 'parameters', 'parametersJsonSchema', 'parameters_json_schema'];
/** Lists of tools within one; a chat tool has its definition in a member. */
const INNER_LISTS = ['functionDeclarations', 'function_declarations', 'tools'];
const INNER = ['function', 'custom'];
/** All others are the provider's own: it reads them by their type. */
const OWN_TYPES: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom', 'namespace']);

/** How deep the deepest of them lie, of tools in a namespace in the input: what lies deeper is none. */
const MAX_PATH = 7;

/** Every definition in `body`, in the order of its members. */
export function definitionsIn(body: unknown, dialect: DialectName): readonly Definition[] {
  if (!isObject(body)) return [];
  const found: Definition[] = [];
  const takeAll = (tools: unknown, path: JsonPath): void => {
    if (isObject(tools)) return take(tools, path);
    for (const [at, tool] of listOf(tools).entries()) if (isObject(tool)) take(tool, [...path, at]);
  };
  const take = (tool: JsonObject, path: JsonPath): void => {
    if (!OWN_TYPES.has(tool['type']) || path.length > MAX_PATH) return;
    const inner = INNER.find((name) => isObject(tool[name]));
    if (inner !== undefined) return take(tool[inner] as JsonObject, [...path, inner]);
    found.push(definitionOf(tool, path, dialect));
    for (const name of INNER_LISTS) takeAll(listOf(tool[name]), [...path, name]);
  };
  for (const name of ['tools', 'functions']) takeAll(body[name], [name]);
  for (const [at, item] of listOf(body['input']).entries())
    if (isObject(item) && item['type'] === 'additional_tools')
      takeAll(item['tools'], ['input', at, 'tools']);
  return found.filter(({ description, schema }) => description !== undefined || schema);
}

function definitionOf(tool: JsonObject, path: JsonPath, dialect: DialectName): Definition {
  const text = textOf(tool['description']);
  const schema = SCHEMAS.find((name) => isObject(tool[name]));
  return {
    name: textOf(tool['name']) ?? '',
    description: text === undefined ? undefined : { path: [...path, 'description'], text },
    schema: schema === undefined ? undefined : [...path, schema],
    // The responses API holds the model to a schema unless told not to.
    isStrict: dialect === 'responses' ? tool['strict'] !== false : tool['strict'] === true,
  };
}
