/** Checks of JSON Schemas, and the conversion that one dialect's own notation needs. */
import type { JsonObject } from '../canonical.ts';
import { isObject, objectOf, stringsOf } from '../json-kind.ts';

/**
 * Returns true if every object in the schema forbids other keys and requires all of its own, as
 * strict modes demand.
 */
export function fitsStrictMode(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrictMode);
  if (!isObject(schema)) return true;
  if (schema.type === 'object' || isObject(schema.properties)) {
    const required = new Set(stringsOf(schema.required));
    const names = Object.keys(objectOf(schema.properties));
    if (schema.additionalProperties !== false) return false;
    if (names.some((name) => !required.has(name))) return false;
  }
  return Object.entries(schema).every(
    ([key, value]) => key === 'enum' || key === 'default' || fitsStrictMode(value),
  );
}

/** Keys under which a schema has subschemas by name, and those under which it has them directly. */
const BY_NAME = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
const DIRECT = new Set([
  'items',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'prefixItems',
]);

/**
 * Converts the OpenAPI notation of the generative dialect to JSON Schema: types in lower case,
 * `nullable` as a type of its own, `propertyOrdering` (a preferred key order) left out.
 */
export function fromOpenApi(schema: JsonObject): JsonObject {
  const out: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(schema)) {
    const name = camelKeyword(key);
    if (name === 'nullable' || name === 'propertyOrdering') continue;
    if (name === 'type') out.type = typeof value === 'string' ? value.toLowerCase() : value;
    else if (BY_NAME.has(name) && isObject(value)) out[name] = mapValues(value);
    else if (DIRECT.has(name)) out[name] = convert(value);
    else out[name] = COUNTED.has(name) ? toNumber(value) : value;
  }
  if (schema.nullable === true && typeof out.type === 'string') out.type = [out.type, 'null'];
  return out;
}

/** Limits that the notation writes as strings, because they are 64-bit there. */
const COUNTED = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}

/** The notation may come with its keywords in snake case. */
function camelKeyword(key: string): string {
  return SNAKE.test(key) ? key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) : key;
}

const SNAKE = /^(any_of|property_ordering|additional_properties|prefix_items|(min|max)_[a-z]+)$/;

function mapValues(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, convert(value)]));
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  return isObject(value) ? fromOpenApi(value) : value;
}
