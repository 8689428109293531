/** `svc validate`: valid packs, and every way in which a pack is invalid. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import { stringify } from 'yaml';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { packSchemaDocument } from './schema.ts';
import { validatePack } from './validate.ts';

const header = { version: '1.0', id: 'pack-1', created: '2026-01-31T12:00:00Z' };
const metadata = { task: 'mend the build', source: 'ci' };
const block = { type: 'code', id: 'a.1', content: 'let a = 1;' };
const PACK = { header, metadata, blocks: [block] };

const withBlock = (more: object) => ({ ...PACK, blocks: [{ ...block, ...more }] });
const withHeader = (more: object) => ({ ...PACK, header: { ...header, ...more } });
const withMetadata = (more: object) => ({ ...PACK, metadata: { ...metadata, ...more } });

const VALID: readonly object[] = [
  PACK,
  withHeader({ version: '1.12', id: 'x'.repeat(128), created: '2024-02-29T23:59:59.123+02:00' }),
  withMetadata({ target: 't', tags: Array.from({ length: 50 }, String), expires: header.created }),
  withBlock({
    tokens: 0,
    priority: 'internal',
    quality: 1,
    compacted: false,
    provenance: { a: 1 },
  }),
  withBlock({ quality: 0.5, id: '_-.Z9' }),
  {
    ...PACK,
    capabilities: {},
    constraints: {},
    state: {},
    provenance: {},
    policies: {},
    embeddings: {},
  },
];

const INVALID: readonly (readonly [value: unknown, path: string])[] = [
  [[], ''],
  [{ metadata, blocks: [block] }, ''],
  [{ ...PACK, extra: 1 }, 'extra'],
  [{ ...PACK, blocks: [] }, 'blocks'],
  [{ ...PACK, state: [] }, 'state'],
  [withHeader({ version: '2.0' }), 'header.version'],
  [withHeader({ version: '1' }), 'header.version'],
  [withHeader({ id: 'abc' }), 'header.id'],
  [withHeader({ id: 'x'.repeat(129) }), 'header.id'],
  [withHeader({ created: '2026-02-30T12:00:00Z' }), 'header.created'],
  [withHeader({ created: 'yesterday' }), 'header.created'],
  [withHeader({ more: 1 }), 'header.more'],
  [withMetadata({ task: 1 }), 'metadata.task'],
  [withMetadata({ tags: Array.from({ length: 51 }, String) }), 'metadata.tags'],
  [withMetadata({ tags: ['a', 1] }), 'metadata.tags[1]'],
  [withBlock({ type: 'note' }), 'blocks[0].type'],
  [withBlock({ id: 'a b' }), 'blocks[0].id'],
  [withBlock({ id: '' }), 'blocks[0].id'],
  [withBlock({ content: null }), 'blocks[0].content'],
  [withBlock({ tokens: 1.5 }), 'blocks[0].tokens'],
  [withBlock({ tokens: -1 }), 'blocks[0].tokens'],
  [withBlock({ priority: 'urgent' }), 'blocks[0].priority'],
  [withBlock({ quality: 1.01 }), 'blocks[0].quality'],
  [withBlock({ compacted: 'yes' }), 'blocks[0].compacted'],
  [withBlock({ provenance: 'x' }), 'blocks[0].provenance'],
  [withBlock({ toString: 1 }), 'blocks[0].toString'],
];

const check = (value: unknown) => validatePack(Buffer.from(JSON.stringify(value, undefined, 2)));

test('accepts valid packs, and reports the path of the fault in others', async () => {
  for (const value of VALID) assert.equal((await check(value)).valid, true, JSON.stringify(value));
  for (const [value, path] of INVALID) {
    const result = await check(value);
    if (result.valid) throw new Error(`${path}: no fault was found`);
    assert.equal(
      result.faults.map((fault) => fault.path),
      [path],
    );
  }
});

test('the published schema is up to date and gives the same verdicts', async () => {
  const file = new URL('../../../server/context-pack/context-pack-1.0.json', import.meta.url);
  const published: unknown = JSON.parse(readFileSync(fileURLToPath(file), 'utf8'));
  assert.equal(published, JSON.parse(JSON.stringify(packSchemaDocument())));
  const ajv = new Ajv2020({ validateFormats: false });
  const judge = ajv.compile(packSchemaDocument());
  for (const value of VALID) assert.ok(judge(value), JSON.stringify(judge.errors));
  for (const [value, path] of INVALID)
    if (path !== 'header.created') assert.not(judge(JSON.parse(JSON.stringify(value))), path);
});

test('faults have the line and column in the file', async () => {
  const faults = async (text: string | Buffer) => {
    const result = await validatePack(Buffer.from(text));
    return result.valid
      ? []
      : result.faults.map((fault) => `${fault.line}:${fault.column} ${fault.path}`);
  };
  const text = JSON.stringify(withBlock({ quality: 2, odd: 1 }), undefined, 2);
  const lines = text.split('\n');
  const lineOf = (part: string) => lines.findIndex((line) => line.includes(part)) + 1;
  const [quality, odd] = ['"quality"', '"odd"'].map(lineOf);
  assert.equal(await faults(text), [
    `${quality}:${lines[quality! - 1]!.indexOf('2') + 1} blocks[0].quality`,
    `${odd}:${lines[odd! - 1]!.indexOf('"odd"') + 1} blocks[0].odd`,
  ]);
  assert.equal(await faults('{\r\n  "a": 1,\r\n}'), ['3:1 ']);
  assert.equal(await faults('{"ä😀": nope}'), ['1:8 ']);
  assert.equal(await faults('{"a": "never ends'), ['1:7 ']);
  assert.equal(await faults(''), ['1:1 ']);
  assert.equal(await faults('[1] 2'), ['1:5 ']);
  assert.equal(await faults(Buffer.from([0x22, 0xff, 0x22])), ['1:1 ']);
  const twice = JSON.stringify(PACK).replace('"task":', '"task":"x","task":');
  assert.match((await faults(twice)).join(), /^1:\d+ metadata\.task$/);
  const same = { ...PACK, blocks: [block, block] };
  assert.match((await faults(JSON.stringify(same))).join(), /^1:\d+ blocks\[1\]\.id$/);
  assert.equal(await faults('['.repeat(100_000)), ['1:66 ']);
  assert.equal(await faults('{"__proto__": 1}').then(([first]) => first), '1:1 ');
});

test('YAML gets the same verdicts as JSON, with line and column', async () => {
  for (const value of VALID) {
    const bytes = Buffer.from(stringify(value));
    assert.is((await validatePack(bytes, 'yaml')).valid, true, bytes.toString());
  }
  for (const [value, path] of INVALID) {
    const result = await validatePack(Buffer.from(stringify(value)), 'yaml');
    assert.equal(result.valid ? [] : result.faults.map((fault) => fault.path), [path]);
  }
  const faults = async (text: string) => {
    const result = await validatePack(Buffer.from(text), 'yaml');
    return result.valid
      ? []
      : result.faults.map((fault) => `${fault.line}:${fault.column} ${fault.path}`);
  };
  const pack = [
    'header: { version: "1.0", id: pack-1, created: 2026-01-31T12:00:00Z }',
    'metadata:',
    '  task: mend the build',
    '  source: ci',
    'blocks:',
    '  - type: code',
    '    id: a.1',
    '    content: |',
    '      let a = 1; # ä😀',
    '    quality: 0.5',
  ];
  assert.equal(await faults(pack.join('\r\n')), []);
  const withLine = (at: number, line: string) => pack.with(at - 1, line).join('\n');
  assert.equal(await faults(withLine(10, '    quality:   2')), ['10:16 blocks[0].quality']);
  assert.equal(await faults(withLine(10, '    odd: 2')), ['10:5 blocks[0].odd']);
  assert.equal(
    await faults(withLine(4, '  task: again')),
    ['2:1 metadata', '4:3 metadata.task'].map((one) =>
      one === '2:1 metadata' ? '3:3 metadata' : one,
    ),
  );
  assert.equal(
    await faults(
      withLine(1, 'header: { version: 1.0, id: pack-1, created: "2026-01-31T12:00:00Z" }'),
    ),
    ['1:20 header.version'],
  );
  assert.equal(await faults(withLine(4, '  source: *none')), ['4:11 ']);
  assert.equal(await faults(withLine(4, '  source: !!js/function x')), ['4:11 ']);
  assert.match((await faults(withLine(4, '  source: "never ends'))).join(), /^\d+:\d+ $/);
  assert.match((await faults('['.repeat(100_000))).join(), /^1:\d+ $/);
  assert.match((await faults('- '.repeat(100_000))).join(), /^1:\d+ $/);
  assert.equal(await faults(''), ['1:1 ']);
  const why = async (text: string) => {
    const result = await validatePack(Buffer.from(text), 'yaml');
    return result.valid ? '' : result.faults[0]!.message;
  };
  const nested = Array.from({ length: 2800 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
  assert.match(await why(nested), /nested too deeply/);
  assert.match(await why(`a: [${'1,'.repeat(600_000)}1]`), /too many values/);
});

test('the command has exit codes, text output, JSON output and the schema', async () => {
  const place = makePlace();
  try {
    const write = (name: string, value: unknown) =>
      writeFileSync(join(place.folder, name), JSON.stringify(value));
    write('good.json', PACK);
    write('bad.json', { ...PACK, blocks: [] });
    const good = await run(place, ['validate', 'good.json']);
    assert.is(good.code, 0);
    assert.match(good.stdout, /good\.json: valid, version 1\.0, pack-1, 1 block/);
    const bad = await run(place, ['validate', 'bad.json']);
    assert.is(bad.code, 8);
    assert.match(bad.stdout, /^bad\.json:1:\d+: blocks must have at least 1 item\n$/);
    const asJson = await run(place, ['validate', 'bad.json', '--json']);
    assert.is(asJson.code, 8);
    assert.is(JSON.parse(asJson.stdout).faults[0].path, 'blocks');
    writeFileSync(join(place.folder, 'bad.YML'), 'header: 1\n');
    const yaml = await run(place, ['validate', 'bad.YML']);
    assert.is(yaml.code, 8);
    assert.match(yaml.stdout, /^bad\.YML:1:9: header must be an object, is an integer$/m);
    assert.is((await run(place, ['validate', 'none.json'])).code, 5);
    assert.is((await run(place, ['validate'])).code, 2);
    const schema = await run(place, ['validate', '--schema']);
    assert.is(JSON.parse(schema.stdout).title, 'Context pack 1.0');
  } finally {
    place.dispose();
  }
});

test('refuses aliases at the first one, without resolving any', async () => {
  const chain = (length: number) =>
    Array.from({ length }, (_, at) => (at === 0 ? 'k0: &a0 1' : `k${at}: &a${at} [*a${at - 1}]`));
  const texts = [
    chain(20_000).join('\n'),
    ['k: &a 1', ...Array.from({ length: 20_000 }, (_, at) => `k${at}: *a`)].join('\n'),
    `[&a 1, ${'*a, '.repeat(20_000)}]`,
  ];
  for (const text of texts) {
    const result = await validatePack(Buffer.from(text), 'yaml');
    assert.is(result.valid, false);
    if (result.valid) continue;
    assert.is(result.faults.length, 1);
    assert.match(result.faults[0]!.message, /aliases are not read/);
    // Reading stops at the alias: a syntax error after it is never reached.
    const broken = await validatePack(Buffer.from(`${text}\n{`), 'yaml');
    assert.equal(broken, result);
  }
});

test.run();
