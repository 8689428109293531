import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { printCompact, readJson } from '../rules/json/lexer.ts';
import { shortenSchema } from './schema.ts';

const TOOL = { name: 'read_file', description: 'Reads a file.', isStrict: false };

function shorter(schema: unknown, tool: Partial<typeof TOOL> = {}): unknown {
  const node = shortenSchema(readJson(JSON.stringify(schema))!, { ...TOOL, ...tool });
  return JSON.parse(printCompact(node));
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

test('removes what generators add to every schema, and keeps what the model needs', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'read_fileArguments',
    description: 'Reads a  file.',
    ...object({
      file_path: { type: 'string', title: 'File Path', description: 'Absolute path' },
      title: { type: 'string', title: 'Title', minLength: 0 },
      lines: {
        type: 'array',
        description: 'Ranges',
        uniqueItems: false,
        items: { type: 'string', description: 'Ranges' },
      },
      mode: {
        title: 'How to read',
        anyOf: [{ type: 'null' }, { type: 'string' }, { type: 'null' }],
      },
    }),
    required: [],
    additionalProperties: {},
    $defs: { Unused: { type: 'string', $ref: '#/$defs/AlsoUnused' }, AlsoUnused: {} },
  };
  assert.equal(
    shorter(schema),
    object({
      file_path: { type: 'string', description: 'Absolute path' },
      title: { type: 'string' },
      lines: { type: 'array', description: 'Ranges', items: { type: 'string' } },
      mode: { title: 'How to read', anyOf: [{ type: 'null' }, { type: 'string' }] },
    }),
  );
});

test('keeps the description of a definition, which may be the only place that has it', () => {
  const schema = object(
    { from: { $ref: '#/$defs/Place' } },
    { $defs: { Place: { type: 'string', description: 'Reads a file.' } } },
  );
  assert.equal(shorter(schema), schema);
});

test('keeps keywords that constrain values', () => {
  for (const schema of [
    object({ a: {} }, { additionalProperties: false, required: ['a'] }),
    object({ required: { default: [], const: { required: [], $schema: 'x' } } }),
    object({}, { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }),
    { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
    { $ref: '#/$defs/A', $defs: { A: { properties: { b: { $ref: '#/$defs/B' } } }, B: {} } },
    { $ref: '#/definitions/A/items', definitions: { A: { items: {} }, B: {} } },
    { $comment: 'a word to the reader', oneOf: [{ minimum: 1 }, { minimum: 1 }] },
    { type: 'array', items: {} },
  ])
    assert.equal(shorter(schema), schema);
  const open = {
    allOf: [object({}, { additionalProperties: true })],
    unevaluatedProperties: false,
  };
  assert.equal(shorter(open), open);
});

test('keeps every keyword of a strict schema, but drops its title', () => {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...object({}) };
  const strict = { ...schema, required: [], minLength: 0, $defs: { A: {} } };
  assert.equal(shorter({ ...strict, title: 'Read File' }, { isStrict: true }), strict);
});

test('keeps the spelling of numbers, and leaves a schema with a repeated member alone', () => {
  const twice = '{"minimum":1.0,"minimum":2,"required":[]}';
  assert.is(printCompact(shortenSchema(readJson(twice)!, TOOL)), twice);
  const large = '{"maximum":9007199254740993,"multipleOf":1.0,"required":[]}';
  assert.is(
    printCompact(shortenSchema(readJson(large)!, TOOL)),
    '{"maximum":9007199254740993,"multipleOf":1.0}',
  );
});

const NAMES = ['a', 'b', 'title', 'id', 'required', 'description'] as const;
const name = fc.constantFrom(...NAMES);
const DRAFT = 'http://json-schema.org/draft-07/schema#';

const SIMPLE = fc.constantFrom<object>({}, { type: 'string' }, { type: 'integer', minimum: 0 });
const member = (key: string, value: fc.Arbitrary<unknown>) => fc.tuple(fc.constant(key), value);

/** Schemas as generators and people write them, with removable parts and parts that must stay. */
const { schema: anySchema } = fc.letrec<{ schema: object; part: object }>((tie) => ({
  part: fc.oneof({ maxDepth: 2, depthIdentifier: 'schema' }, SIMPLE, tie('schema')),
  schema: fc
    .array(
      fc.oneof(
        member('type', fc.constantFrom('object', 'string', 'array', ['string', 'null'])),
        member('title', fc.constantFrom('A', 'Title', 'Something else')),
        member('description', fc.constantFrom('', 'Reads a file.', 'Another', 'Two.  Spaces')),
        member('properties', fc.dictionary(name, tie('part'), { maxKeys: 3 })),
        member('patternProperties', fc.constantFrom({}, { '^a': { type: 'string' } })),
        member('required', fc.uniqueArray(name, { maxLength: 2 })),
        member('additionalProperties', fc.constantFrom(true, false, {}, { type: 'string' })),
        member('unevaluatedProperties', fc.constant(false)),
        member('items', tie('part')),
        member('uniqueItems', fc.boolean()),
        member('minItems', fc.nat(1)),
        member('minLength', fc.nat(1)),
        member('minProperties', fc.nat(1)),
        member('enum', fc.constant(['a', 1, null, [], {}])),
        member('anyOf', fc.array(tie('part'), { minLength: 1, maxLength: 3 })),
        member('allOf', fc.array(tie('part'), { minLength: 1, maxLength: 2 })),
        member('oneOf', fc.array(tie('part'), { minLength: 1, maxLength: 2 })),
        member('not', tie('part')),
        member('$ref', fc.constantFrom('#/$defs/A', '#/$defs/B')),
      ),
      { maxLength: 4 },
    )
    .map((members) => Object.fromEntries(members) as object),
}));

const anyRoot = fc.record(
  {
    $schema: fc.constant(DRAFT),
    schema: anySchema,
    $defs: fc.record({ A: SIMPLE, B: fc.constant({ $ref: '#/$defs/A' }), C: anySchema }),
  },
  { requiredKeys: ['schema', '$defs'] },
);

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(null, 'a', 'aaa', '', 0, 1, -1, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));

/**
 * Returns whether each of `values` is valid by `draft`; undefined if the schema is refused or never
 * terminates.
 */
function verdicts(
  schema: Record<string, unknown>,
  values: readonly unknown[],
  draft: typeof Ajv | typeof Ajv2020,
): readonly unknown[] | undefined {
  try {
    const { $schema: _, ...bare } = schema;
    const validate = new draft({ strict: false, validateFormats: false }).compile(bare);
    return values.map((value) => validate(value));
  } catch {
    return undefined;
  }
}

test('makes a schema that accepts and rejects the same values, in its own and in the newest draft', () => {
  let [changed, judged] = [0, 0];
  fc.assert(
    fc.property(
      anyRoot,
      fc.array(anyValue, { minLength: 10, maxLength: 20 }),
      ({ $schema, schema, $defs }, values) => {
        const whole = { ...($schema && { $schema }), ...schema, $defs };
        const small = shorter(whole) as Record<string, unknown>;
        if (JSON.stringify(small) !== JSON.stringify(whole)) changed += 1;
        const isDropped = $schema !== undefined && small['$schema'] === undefined;
        const before = verdicts(whole, values, $schema === undefined ? Ajv2020 : Ajv);
        if (before === undefined) return;
        judged += 1;
        const drafts = isDropped ? [Ajv, Ajv2020] : [$schema === undefined ? Ajv2020 : Ajv];
        for (const draft of drafts) assert.equal(verdicts(small, values, draft), before);
        assert.equal(shorter(small), small, 'a second pass changes nothing');
      },
    ),
    { numRuns: 200 },
  );
  assert.ok(changed > 100 && judged > 100, `${changed} changed, ${judged} judged`);
});

test.run();
