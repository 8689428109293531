/** The quick checks, arktype and the published schema are views of one table. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type } from 'arktype';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allows } from '../../stages/settings/kind.ts';
import { fileLayer } from './layer.ts';
import { configJsonSchema } from './schema.ts';
import { settings, SPELLINGS } from './settings.ts';

/** Values that are valid for some settings and invalid for others. */
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
  fc.constantFrom<unknown>(
    [],
    ['sse'],
    ['*'],
    [1],
    {},
    { a: 'b' },
    { a: 1 },
    [{ module: 'm', name: 'n' }],
    [{ module: 'm' }],
    [{ module: 'm', config: { a: [1] } }],
    [{ module: 'm', other: 1 }],
    [{ name: 'a', when: { metric: 'errors', above: 1 } }],
    [{ name: 'a', when: { metric: 'errors', above: 1e13 }, message: 'm' }],
    [{ name: 'a', when: { metric: 'errors', window_minutes: 1.5 } }],
    [{ name: 'a', when: { metric: 'errors', more: 1 } }],
  ),
);

/** Paths of settings, of sections, and of neither. */
const PATHS = [
  ...SPELLINGS,
  'server',
  'providers',
  'unknown',
  'server.unknown',
  'models.<alias>.unknown',
];

test('the arktype schema and the quick check give the same verdict on every setting', () => {
  const types = settings.map((setting) => [setting, type.raw(setting.type.definition)] as const);
  fc.assert(
    fc.property(fc.constantFrom(...types), VALUE, ({ 0: setting, 1: ark }, value) => {
      // Arktype counts a list as an object, so it accepts one where a map is expected; our check
      // rejects it.
      const { definition } = setting.type;
      if (Array.isArray(value) && Object.hasOwn(Object(definition) as object, '[string]')) return;
      const verdict = allows(definition, value);
      assert.is(ark.allows(value), verdict, JSON.stringify({ key: setting.key, value }));
    }),
    { numRuns: 5000, seed: 20261120 },
  );
});

test('both agree at the ends of every range and for every allowed word', () => {
  for (const { key, type: settingType } of settings) {
    const { definition } = settingType;
    if (typeof definition !== 'string') continue;
    const ark = type.raw(definition);
    const numbers = [...definition.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
    const ends = numbers.flatMap((end) => [end - 1, end - 0.5, end, end + 0.5, end + 1]);
    const words = [...definition.matchAll(/'([^']*)'/g)].map(([, word]) => word);
    for (const value of [...ends, ...words, ...words.map((word) => `${word}s`), Number.NaN])
      assert.is(allows(definition, value), ark.allows(value), `${key}: ${value}`);
  }
});

test('the published schema and the proxy give the same verdict on a file', async () => {
  const accepts = new Ajv2020({ strict: false }).compile(await configJsonSchema());
  fc.assert(
    fc.property(fc.constantFrom(...PATHS), VALUE, (spelling, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) return;
      const path = spelling.replace(/<.+>/, 'some').split('.');
      const data = path.reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), value);
      const { faults } = fileLayer(
        { data, faults: [], originOf: () => ({ source: 'file', where: '' }) },
        { found: false, variables: {}, absolute: (relative) => relative },
      );
      assert.is(accepts(data), faults.length === 0, JSON.stringify({ data, faults }));
    }),
    { numRuns: 5000, seed: 20261120 },
  );
});

test('the schema says what each setting does and what its default is', async () => {
  const { properties } = (await configJsonSchema()) as { properties: Record<string, unknown> };
  assert.equal((properties['compression'] as { properties: unknown }).properties, {
    ...(properties['compression'] as { properties: object }).properties,
    enabled: { type: 'boolean', description: 'Master switch for all compression.', default: true },
  });
});

test.run();
