/**
 * Removes repeated and default parts of a JSON Schema. The result accepts and rejects the same
 * values under any draft, and keeps the same names and descriptions.
 */
import { partsOf, printCompact } from '../rules/json/lexer.ts';
import type { JsonNode, ObjectNode } from '../rules/json/lexer.ts';
import { tidyDescription } from './description.ts';

/** Facts about the whole schema that the rewriting of a part depends on. */
interface SchemaFacts {
  readonly isStrict: boolean;
  /** Every keyword that occurs in it. */
  readonly names: ReadonlySet<string>;
}

/** Position of a part. */
interface SchemaPlace {
  /** Name that its title may repeat. */
  readonly name: string;
  /** The enclosing description, without white space. */
  readonly above: string;
}

const SUBSCHEMA_KEYWORDS = new Set([
  'items',
  'contains',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);
const SUBSCHEMA_LISTS = new Set(['items', 'prefixItems', 'allOf', 'anyOf', 'oneOf']);
const SUBSCHEMA_MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** Members whose value is the default. */
const DEFAULTS: ReadonlyMap<string, string> = new Map([
  ['required', '[]'],
  ['examples', '[]'],
  ['patternProperties', '{}'],
  ['dependentSchemas', '{}'],
  ['dependentRequired', '{}'],
  ['$defs', '{}'],
  ['definitions', '{}'],
  ['minLength', '0'],
  ['minItems', '0'],
  ['minProperties', '0'],
  ['uniqueItems', 'false'],
  ['deprecated', 'false'],
  ['readOnly', 'false'],
  ['writeOnly', 'false'],
  ['nullable', 'false'],
]);

/** Keywords that some drafts lack or define differently. */
const DRAFT_DEPENDENT = [
  'id',
  '$id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$vocabulary',
  'additionalItems',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedItems',
  'unevaluatedProperties',
];
/** Keywords by which a definition can be referenced other than by its name. */
const OTHER_REFERENCES = ['id', '$id', '$anchor', '$dynamicRef', '$recursiveRef'];
const DEFINITIONS = new Set(['$defs', 'definitions']);
const LOCAL_REFERENCE = /^#\/(?:\$defs|definitions)\/([^/~%]+)$/;

/**
 * Shortens the schema of the tool `name` with the description `above`; returns the same node if
 * nothing changes.
 */
export function shortenSchema(
  schema: JsonNode,
  tool: { readonly name: string; readonly description: string; readonly isStrict: boolean },
): JsonNode {
  if (schema.kind !== 'object' || !hasMembersOnce(schema)) return schema;
  const used = tool.isStrict ? schema : withoutUnused(schema);
  const facts = { isStrict: tool.isStrict, names: namesIn(used) };
  const place = { name: tool.name, above: withoutExtraSpace(tool.description) };
  const shorter = withoutOwnRepeats(used, place, facts);
  return tool.isStrict ? shorter : withoutDraft(shorter);
}

/** Returns true if no object in it has a duplicate member, which parsers treat differently. */
function hasMembersOnce(node: JsonNode): boolean {
  const isOnce =
    node.kind !== 'object' || new Set(node.keys.map(parseKey)).size === node.keys.length;
  return isOnce && partsOf(node).every(hasMembersOnce);
}

/** Collects its keywords and possible keywords, but no names of properties or definitions. */
function namesIn(node: JsonNode, names = new Set<string>(), isMap = false): ReadonlySet<string> {
  const own = node.kind === 'object' ? node.keys.map(parseKey) : [];
  if (!isMap) for (const name of own) names.add(name);
  for (const [at, part] of partsOf(node).entries())
    namesIn(part, names, !isMap && SUBSCHEMA_MAPS.has(own[at] ?? ''));
  return names;
}

function withoutRepeats(node: JsonNode, place: SchemaPlace, facts: SchemaFacts): JsonNode {
  return node.kind === 'object' ? withoutOwnRepeats(node, place, facts) : node;
}

function withoutOwnRepeats(node: ObjectNode, place: SchemaPlace, facts: SchemaFacts): ObjectNode {
  const described = withoutExtraSpace(textIn(node, 'description') ?? '');
  const above = described === '' ? place.above : described;
  const inner = { name: '', above };
  return rebuildObject(node, (name, value) => {
    if (name === 'title') return isTitleOf(value, place.name) ? undefined : value;
    if (name === 'description') return descriptionIn(value, place.above);
    if (!facts.isStrict && isDefault(name, value, facts.names)) return undefined;
    if (SUBSCHEMA_MAPS.has(name) && value.kind === 'object') {
      // The context of a definition is wherever it is referenced.
      const over = DEFINITIONS.has(name) ? '' : above;
      return rebuildObject(value, (member, part) =>
        withoutRepeats(part, { name: member, above: over }, facts),
      );
    }
    if (SUBSCHEMA_LISTS.has(name) && value.kind === 'array') {
      const items = value.items.map((item) => withoutRepeats(item, inner, facts));
      const isSet = !facts.isStrict && (name === 'anyOf' || name === 'allOf');
      return { kind: 'array', items: isSet ? distinct(items) : items };
    }
    return SUBSCHEMA_KEYWORDS.has(name) ? withoutRepeats(value, inner, facts) : value;
  });
}

/** Rebuilds an object; `change` returns each new member value, or undefined to drop it. */
function rebuildObject(
  { keys, values }: ObjectNode,
  change: (name: string, value: JsonNode) => JsonNode | undefined,
): ObjectNode {
  const kept = keys.flatMap((key, at) => {
    const value = change(parseKey(key), values[at]!);
    return value === undefined ? [] : [{ key, value }];
  });
  return {
    kind: 'object',
    keys: kept.map(({ key }) => key),
    values: kept.map(({ value }) => value),
  };
}

function isDefault(name: string, value: JsonNode, names: ReadonlySet<string>): boolean {
  const known = DEFAULTS.get(name);
  if (known !== undefined) return printCompact(value) === known;
  // Members it accepts count as evaluated, which `unevaluatedProperties` depends on.
  if (name !== 'additionalProperties' || names.has('unevaluatedProperties')) return false;
  const text = printCompact(value);
  return text === 'true' || text === '{}';
}

/**
 * Returns true for a generated title, which spells the name: `File Path` of `file_path`,
 * `read_fileArguments` of the tool `read_file`.
 */
function isTitleOf(value: JsonNode, name: string): boolean {
  const title = stringOf(value);
  if (title === undefined) return false;
  const [own, other] = [letters(title), letters(name)];
  return own === other || (other !== '' && own === `${other}arguments`);
}

const letters = (text: string): string => text.toLowerCase().replaceAll(/[\s_.-]/g, '');

/** Returns the description; undefined if it is empty or repeats the enclosing one. */
function descriptionIn(value: JsonNode, above: string): JsonNode | undefined {
  const text = stringOf(value);
  if (text === undefined) return value;
  if (withoutExtraSpace(text) === '' || withoutExtraSpace(text) === above) return undefined;
  const short = tidyDescription(text);
  return short === text ? value : { kind: 'scalar', raw: JSON.stringify(short) };
}

const withoutExtraSpace = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function distinct(items: readonly JsonNode[]): readonly JsonNode[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const text = printCompact(item);
    return !seen.has(text) && seen.add(text);
  });
}

/** Drops the `$schema` draft if the schema means the same in every draft. */
function withoutDraft(node: ObjectNode): ObjectNode {
  const names = namesIn(node);
  if (DRAFT_DEPENDENT.some((name) => names.has(name)) || isDraftDependent(node)) return node;
  return rebuildObject(node, (name, value) => (name === '$schema' ? undefined : value));
}

/**
 * Returns true if drafts interpret a part differently: item lists, boolean bounds, siblings of a
 * reference.
 */
function isDraftDependent(node: JsonNode): boolean {
  if (node.kind !== 'object') return partsOf(node).some(isDraftDependent);
  const own = new Map(node.keys.map((key, at) => [parseKey(key), node.values[at]!]));
  const isSwitch = (value: JsonNode | undefined): boolean =>
    value?.kind === 'scalar' && (value.raw === 'true' || value.raw === 'false');
  return (
    own.get('items')?.kind === 'array' ||
    isSwitch(own.get('exclusiveMinimum')) ||
    isSwitch(own.get('exclusiveMaximum')) ||
    (own.has('$ref') && own.size > 1) ||
    node.values.some(isDraftDependent)
  );
}

/** Drops definitions that nothing in use refers to. */
function withoutUnused(node: ObjectNode): ObjectNode {
  const names = namesIn(node);
  if (OTHER_REFERENCES.some((name) => names.has(name))) return node;
  const defined = new Map<string, JsonNode>();
  const rest = rebuildObject(node, (name, value) => {
    if (!DEFINITIONS.has(name) || value.kind !== 'object') return value;
    for (const [at, key] of value.keys.entries()) defined.set(parseKey(key), value.values[at]!);
    return undefined;
  });
  if (defined.size === 0) return node;
  const used = new Set<string>();
  const waiting: JsonNode[] = [rest];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = referencesIn(next);
    if (found === undefined) return node;
    for (const name of found) {
      if (used.has(name)) continue;
      used.add(name);
      const definition = defined.get(name);
      if (definition !== undefined) waiting.push(definition);
    }
  }
  return rebuildObject(node, (name, value) => {
    if (!DEFINITIONS.has(name) || value.kind !== 'object') return value;
    const kept = rebuildObject(value, (member, part) => (used.has(member) ? part : undefined));
    return kept.keys.length === 0 ? undefined : kept;
  });
}

/** Returns the names of the referenced definitions; undefined if a reference is not understood. */
function referencesIn(node: JsonNode): readonly string[] | undefined {
  const names: string[] = [];
  if (node.kind === 'object') {
    const at = node.keys.findIndex((key) => parseKey(key) === '$ref');
    const text = at < 0 ? undefined : (stringOf(node.values[at]!) ?? '');
    const local = text === undefined ? undefined : LOCAL_REFERENCE.exec(text)?.[1];
    if (text !== undefined && text !== '#' && local === undefined) return undefined;
    if (local !== undefined) names.push(local);
  }
  for (const part of partsOf(node)) {
    const inner = referencesIn(part);
    if (inner === undefined) return undefined;
    names.push(...inner);
  }
  return names;
}

function textIn({ keys, values }: ObjectNode, name: string): string | undefined {
  const at = keys.findIndex((key) => parseKey(key) === name);
  return at < 0 ? undefined : stringOf(values[at]!);
}

const parseKey = (key: string): string => JSON.parse(key) as string;

function stringOf(node: JsonNode): string | undefined {
  return node.kind === 'scalar' && node.raw.startsWith('"')
    ? (JSON.parse(node.raw) as string)
    : undefined;
}
