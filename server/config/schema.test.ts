/** The composed schema and the quick checks are two views of one table. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileLayer } from './layer.ts';
import { configJsonSchema, configSchema } from './schema.ts';
import { allSpellings } from './settings.ts';

/** Values that are right for some setting and wrong for others. */
const VALUE = fc.oneof(
  fc.boolean(),
  fc.integer({ min: -2, max: 70_000 }),
  fc.double(),
  fc.constantFrom(
    null,
    '',
    'hybrid',
    'sse',
    'chat',
    'lru',
    'file',
    'a b',
    'line\nbreak',
    '~/x',
    'ключ',
  ),
  fc.constantFrom(
    [],
    ['sse'],
    ['*'],
    [1],
    {},
    { a: 'b' },
    { a: 1 },
    [{ module: 'm', name: 'n' }],
    [{ module: 'm' }],
  ),
);

/** Paths of settings, of sections, and of nothing. */
const SPELLINGS = [
  ...allSpellings(),
  'server',
  'providers',
  'unknown',
  'server.unknown',
  'models.<alias>.unknown',
];

test('the arktype schema and the quick checks give the same verdict', async () => {
  const schema = await configSchema();
  fc.assert(
    fc.property(fc.constantFrom(...SPELLINGS), VALUE, (spelling, value) => {
      const path = spelling.replace(/<.+>/, 'some').split('.');
      const data = path.reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), value);
      const { faults } = fileLayer(
        { data, faults: [], placeOf: () => ({ source: 'file', where: '' }) },
        { found: false, variables: {}, absolute: (relative) => relative },
      );
      // To arktype a list is an object too, so that it may pass for a map; ours refuses it.
      if (Array.isArray(value) && faults.length > 0) return;
      assert.is(schema.allows(data), faults.length === 0, JSON.stringify({ data, faults }));
    }),
    { numRuns: 5000, seed: 20261120 },
  );
});

test('the schema is there as JSON Schema', async () => {
  const schema = await configJsonSchema();
  const text = JSON.stringify(schema);
  assert.match(text, '"strict"');
  assert.match(text, '"custom_providers"');
});

test.run();
