/**
 * What a JSON Schema says twice or says by default. A schema without it takes and refuses the same
 * values, whatever draft it is read by, and names and describes the same things.
 */
import { partsOf, printCompact } from '../rules/json/lexer.ts';
import type { JsonNode, ObjectNode } from '../rules/json/lexer.ts';
import { tidied } from './description.ts';

/** What of the whole schema a part of it is written by. */
interface Whole {
  readonly isStrict: boolean;
  /** Every keyword that occurs in it. */
  readonly names: ReadonlySet<string>;
}

/** Where a part stands. */
interface Place {
  /** What its title may repeat. */
  readonly name: string;
  /** The description that stands over it, without white space. */
  readonly above: string;
}

const ONE = new Set([
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
const LISTS = new Set(['items', 'prefixItems', 'allOf', 'anyOf', 'oneOf']);
const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** Members that say what holds without them. */
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

/** Keywords that not all drafts have, or that mean other things in some. */
const OF_SOME_DRAFTS = [
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
/** Anchors and addresses by which a definition could be meant otherwise than by its name. */
const OTHER_REFERENCES = ['id', '$id', '$anchor', '$dynamicRef', '$recursiveRef'];
const DEFINITIONS = new Set(['$defs', 'definitions']);
const LOCAL_REFERENCE = /^#\/(?:\$defs|definitions)\/([^/~%]+)$/;

/** The schema of the tool `name`, whose description is `above`, in a shorter form; the same node where there is none. */
export function shorterSchema(
  schema: JsonNode,
  tool: { readonly name: string; readonly description: string; readonly isStrict: boolean },
): JsonNode {
  if (schema.kind !== 'object' || !hasMembersOnce(schema)) return schema;
  const used = tool.isStrict ? schema : withoutUnused(schema);
  const whole = { isStrict: tool.isStrict, names: namesIn(used) };
  const place = { name: tool.name, above: bare(tool.description) };
  const shorter = withoutOwnRepeats(used, place, whole);
  return tool.isStrict ? shorter : withoutDraft(shorter);
}

/** True if no object of it has a member twice, which parsers read in different ways. */
function hasMembersOnce(node: JsonNode): boolean {
  const isOnce = node.kind !== 'object' || new Set(node.keys.map(read)).size === node.keys.length;
  return isOnce && partsOf(node).every(hasMembersOnce);
}

/** Its keywords, and all that could be some; names of properties and definitions are not. */
function namesIn(node: JsonNode, names = new Set<string>(), isMap = false): ReadonlySet<string> {
  const own = node.kind === 'object' ? node.keys.map(read) : [];
  if (!isMap) for (const name of own) names.add(name);
  for (const [at, part] of partsOf(node).entries())
    namesIn(part, names, !isMap && MAPS.has(own[at] ?? ''));
  return names;
}

function withoutRepeats(node: JsonNode, place: Place, whole: Whole): JsonNode {
  return node.kind === 'object' ? withoutOwnRepeats(node, place, whole) : node;
}

function withoutOwnRepeats(node: ObjectNode, place: Place, whole: Whole): ObjectNode {
  const described = bare(textIn(node, 'description') ?? '');
  const above = described === '' ? place.above : described;
  const inner = { name: '', above };
  return rebuilt(node, (name, value) => {
    if (name === 'title') return isTitleOf(value, place.name) ? undefined : value;
    if (name === 'description') return descriptionIn(value, place.above);
    if (!whole.isStrict && isDefault(name, value, whole.names)) return undefined;
    if (MAPS.has(name) && value.kind === 'object') {
      // What stands over a definition is what refers to it, wherever that is.
      const over = DEFINITIONS.has(name) ? '' : above;
      return rebuilt(value, (member, part) =>
        withoutRepeats(part, { name: member, above: over }, whole),
      );
    }
    if (LISTS.has(name) && value.kind === 'array') {
      const items = value.items.map((item) => withoutRepeats(item, inner, whole));
      const isSet = !whole.isStrict && (name === 'anyOf' || name === 'allOf');
      return { kind: 'array', items: isSet ? unlike(items) : items };
    }
    return ONE.has(name) ? withoutRepeats(value, inner, whole) : value;
  });
}

/** The object with each member as `change` has it; undefined leaves it out. */
function rebuilt(
  { keys, values }: ObjectNode,
  change: (name: string, value: JsonNode) => JsonNode | undefined,
): ObjectNode {
  const kept = keys.flatMap((key, at) => {
    const value = change(read(key), values[at]!);
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
  // What it takes counts as evaluated, which another keyword may ask for.
  if (name !== 'additionalProperties' || names.has('unevaluatedProperties')) return false;
  const text = printCompact(value);
  return text === 'true' || text === '{}';
}

/** Generated titles spell the name: `File Path` of `file_path`, `read_fileArguments` of the tool `read_file`. */
function isTitleOf(value: JsonNode, name: string): boolean {
  const title = stringOf(value);
  if (title === undefined) return false;
  const [own, other] = [letters(title), letters(name)];
  return own === other || (other !== '' && own === `${other}arguments`);
}

const letters = (text: string): string => text.toLowerCase().replaceAll(/[\s_.-]/g, '');

/** Undefined where it says nothing, or what already stands above it. */
function descriptionIn(value: JsonNode, above: string): JsonNode | undefined {
  const text = stringOf(value);
  if (text === undefined) return value;
  if (bare(text) === '' || bare(text) === above) return undefined;
  const short = tidied(text);
  return short === text ? value : { kind: 'scalar', raw: JSON.stringify(short) };
}

const bare = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function unlike(items: readonly JsonNode[]): readonly JsonNode[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const text = printCompact(item);
    return !seen.has(text) && seen.add(text);
  });
}

/** Without the draft's name, where the schema means the same in every draft. */
function withoutDraft(node: ObjectNode): ObjectNode {
  const names = namesIn(node);
  if (OF_SOME_DRAFTS.some((name) => names.has(name)) || isOfSomeDrafts(node)) return node;
  return rebuilt(node, (name, value) => (name === '$schema' ? undefined : value));
}

/** Lists of items, bounds that are switches, and what stands beside a reference: drafts differ in them. */
function isOfSomeDrafts(node: JsonNode): boolean {
  if (node.kind !== 'object') return partsOf(node).some(isOfSomeDrafts);
  const own = new Map(node.keys.map((key, at) => [read(key), node.values[at]!]));
  const isSwitch = (value: JsonNode | undefined): boolean =>
    value?.kind === 'scalar' && (value.raw === 'true' || value.raw === 'false');
  return (
    own.get('items')?.kind === 'array' ||
    isSwitch(own.get('exclusiveMinimum')) ||
    isSwitch(own.get('exclusiveMaximum')) ||
    (own.has('$ref') && own.size > 1) ||
    node.values.some(isOfSomeDrafts)
  );
}

/** Without definitions that nothing in use refers to. */
function withoutUnused(node: ObjectNode): ObjectNode {
  const names = namesIn(node);
  if (OTHER_REFERENCES.some((name) => names.has(name))) return node;
  const defined = new Map<string, JsonNode>();
  const rest = rebuilt(node, (name, value) => {
    if (!DEFINITIONS.has(name) || value.kind !== 'object') return value;
    for (const [at, key] of value.keys.entries()) defined.set(read(key), value.values[at]!);
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
  return rebuilt(node, (name, value) => {
    if (!DEFINITIONS.has(name) || value.kind !== 'object') return value;
    const kept = rebuilt(value, (member, part) => (used.has(member) ? part : undefined));
    return kept.keys.length === 0 ? undefined : kept;
  });
}

/** The names of the definitions that it refers to; undefined where a reference may mean anything. */
function referencesIn(node: JsonNode): readonly string[] | undefined {
  const names: string[] = [];
  if (node.kind === 'object') {
    const at = node.keys.findIndex((key) => read(key) === '$ref');
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
  const at = keys.findIndex((key) => read(key) === name);
  return at < 0 ? undefined : stringOf(values[at]!);
}

const read = (key: string): string => JSON.parse(key) as string;

function stringOf(node: JsonNode): string | undefined {
  return node.kind === 'scalar' && node.raw.startsWith('"')
    ? (JSON.parse(node.raw) as string)
    : undefined;
}
