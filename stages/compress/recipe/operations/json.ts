/**
 * Operations on a text that is one JSON document. Any other text is left alone; scalars keep their
 * source text.
 */
import { printCompact, readJson, type JsonNode, type ObjectNode } from '../../rules/json/lexer.ts';
import { operation } from '../operation.ts';
import { replaceRows, textOf, type Loss, type Row } from '../rows.ts';

/** Transforms the document; `change` returns undefined if there is nothing to do. */
function onDocument(
  rows: readonly Row[],
  loss: Loss,
  change: (node: JsonNode) => JsonNode,
): readonly Row[] {
  const text = textOf(rows);
  const node = /^\s*[[{]/.test(text.slice(0, 200)) ? readJson(text) : undefined;
  if (node === undefined) return rows;
  const before = printCompact(node);
  const after = printCompact(change(node));
  return after === text || (loss !== 'none' && after === before)
    ? rows
    : replaceRows(rows, after, loss);
}

/** Maps a node and every node in it, innermost first. */
function mapNodes(node: JsonNode, change: (node: JsonNode) => JsonNode): JsonNode {
  const inner = (one: JsonNode): JsonNode => mapNodes(one, change);
  if (node.kind === 'array') return change({ ...node, items: node.items.map(inner) });
  if (node.kind === 'object') return change({ ...node, values: node.values.map(inner) });
  return change(node);
}

/** Maps every node of the document. */
const onNodes = (rows: readonly Row[], change: (node: JsonNode) => JsonNode): readonly Row[] =>
  onDocument(rows, 'text', (node) => mapNodes(node, change));

/** Maps every object in the document. */
const onObjects = (rows: readonly Row[], change: (node: ObjectNode) => JsonNode): readonly Row[] =>
  onNodes(rows, (node) => (node.kind === 'object' ? change(node) : node));

function withMembers(
  node: ObjectNode,
  fits: (key: string, value: JsonNode) => boolean,
): ObjectNode {
  const members = node.keys.flatMap((key, at) => (fits(nameOf(key), node.values[at]!) ? [at] : []));
  return {
    ...node,
    keys: members.map((at) => node.keys[at]!),
    values: members.map((at) => node.values[at]!),
  };
}

/** The longest prefix of a cut JSON string that splits neither an escape nor a surrogate pair. */
const WHOLE_CHARACTERS =
  /^"(?:[^\\\p{Cs}]|\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|\\u(?!d[89a-f])[\da-f]{4}|\\[^u])*/iu;

/** Strips the quotes of a key. */
const nameOf = (key: string): string => key.slice(1, -1);
const scalar = (raw: string): JsonNode => ({ kind: 'scalar', raw });
const isEmpty = (node: JsonNode): boolean =>
  node.kind === 'scalar'
    ? node.raw === 'null' || node.raw === '""'
    : (node.kind === 'array' ? node.items : node.keys).length === 0;

const KEYS = { keys: { kind: 'names', about: 'Names of members, at any depth' } } as const;

export const jsonOperations = {
  json_minify: operation({
    about: 'Removes white space between the values of a JSON document.',
    loss: 'none',
    params: {},
    example: { with: {}, before: '{\n  "a": 1.0,\n  "b": [1, 2]\n}', after: '{"a":1.0,"b":[1,2]}' },
    run: (rows) => onDocument(rows, 'none', (node) => node),
  }),
  json_drop: operation({
    about: 'Leaves out members with these names, at any depth.',
    loss: 'text',
    params: KEYS,
    example: {
      with: { keys: ['_links'] },
      before: '{"id": 7, "_links": {"self": "/7"}}',
      after: '[svc recipe x shortened this line; the source is complete]\n{"id":7}',
    },
    run: (rows, { keys }) =>
      onObjects(rows, (one) => withMembers(one, (key) => !keys.includes(key))),
  }),
  json_pick: operation({
    about: 'Keeps only these members of objects that have any of them.',
    loss: 'text',
    params: KEYS,
    example: {
      with: { keys: ['id', 'name'] },
      before: '[{"id": 1, "name": "a", "url": "https://x/1"}]',
      after: '[svc recipe x shortened this line; the source is complete]\n[{"id":1,"name":"a"}]',
    },
    run: (rows, { keys }) =>
      onObjects(rows, (one) =>
        one.keys.some((key) => keys.includes(nameOf(key)))
          ? withMembers(one, (key) => keys.includes(key))
          : one,
      ),
  }),
  json_drop_empty: operation({
    about: 'Removes members that are null, an empty string, an empty array or an empty object.',
    loss: 'text',
    params: {},
    example: {
      with: {},
      before: '{"id": 7, "label": null, "tags": []}',
      after: '[svc recipe x shortened this line; the source is complete]\n{"id":7}',
    },
    run: (rows) => onObjects(rows, (one) => withMembers(one, (_, value) => !isEmpty(value))),
  }),
  json_sample: operation({
    about: 'Keeps the first elements of every array and states its original length.',
    loss: 'text',
    params: { most: { kind: 'count', about: 'Elements kept of each list', min: 1 } },
    example: {
      with: { most: 2 },
      before: '{"ids": [1, 2, 3, 4]}',
      after:
        '[svc recipe x shortened this line; the source is complete]\n{"ids":[1,2,"… 2 more of 4"]}',
    },
    run: (rows, { most }) =>
      onNodes(rows, (one) => {
        if (one.kind !== 'array' || one.items.length <= most + 1) return one;
        const { length } = one.items;
        const note = scalar(`"… ${length - most} more of ${length}"`);
        return { ...one, items: [...one.items.slice(0, most), note] };
      }),
  }),
  json_unwrap: operation({
    about: 'Keeps only the value of one member of the outermost object.',
    loss: 'text',
    params: { key: { kind: 'text', about: 'Its name' } },
    example: {
      with: { key: 'data' },
      before: '{"data": [1, 2], "meta": {"took": 3}}',
      after: '[svc recipe x shortened this line; the source is complete]\n[1,2]',
    },
    run: (rows, { key }) =>
      onDocument(rows, 'text', (node) => {
        if (node.kind !== 'object') return node;
        return node.values[node.keys.findIndex((one) => nameOf(one) === key)] ?? node;
      }),
  }),
  json_flatten: operation({
    about: 'Joins the names of nested objects with dots. Lists stay as they are.',
    loss: 'text',
    params: {},
    example: {
      with: {},
      before: '{"a": {"b": 1, "c": {"d": 2}}}',
      after: '[svc recipe x shortened this line; the source is complete]\n{"a.b":1,"a.c.d":2}',
    },
    run: (rows) => onObjects(rows, flattenObject),
  }),
  json_cut_texts: operation({
    about: 'Truncates strings longer than a given number of characters.',
    loss: 'text',
    params: { most: { kind: 'count', about: 'Characters kept of each text', min: 8 } },
    example: {
      with: { most: 8 },
      before: '{"body": "a long description"}',
      after: '[svc recipe x shortened this line; the source is complete]\n{"body":"a long d…"}',
    },
    run: (rows, { most }) =>
      onNodes(rows, (one) => {
        if (one.kind !== 'scalar' || !one.raw.startsWith('"') || one.raw.length <= most + 3)
          return one;
        return scalar(`${WHOLE_CHARACTERS.exec(one.raw.slice(0, most + 1))![0]}…"`);
      }),
  }),
};

function flattenObject(node: ObjectNode): ObjectNode {
  const members = node.keys.flatMap((key, at) => {
    const value = node.values[at]!;
    if (value.kind !== 'object' || value.keys.length === 0) return [[key, value] as const];
    return value.keys.map(
      (inner, index) => [`"${nameOf(key)}.${nameOf(inner)}"`, value.values[index]!] as const,
    );
  });
  return { ...node, keys: members.map(([key]) => key), values: members.map(([, value]) => value) };
}
