import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { settingsTable } from '../../server/config/document.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';

interface Printed {
  readonly config_file: string | null;
  readonly settings: readonly {
    readonly key: string;
    readonly value: string;
    readonly source: string;
    readonly where: string;
  }[];
}

const KEY = 'key-that-must-not-be-printed-0001';

test('show prints value, source and location of a setting, and never a key', async () => {
  const place = makePlace();
  writeFileSync(join(place.folder, 'svc.yaml'), 'streaming:\n  buffer_tokens: 7\n');
  const env = { ...place.env, ANTHROPIC_API_KEY: KEY, SVC_PORT: '9123' };
  const argv = ['config', 'show', '--changed', '--config', 'svc.yaml'];
  const { code, stdout } = await run(place, [...argv, '--json'], { env });
  assert.is(code, 0);
  const printed = JSON.parse(stdout) as Printed;
  assert.is(printed.config_file, join(place.folder, 'svc.yaml'));
  const byKey = new Map(printed.settings.map((one) => [one.key, one]));
  assert.equal([...byKey.keys()].toSorted(), [
    'providers.messages.api_key',
    'server.port',
    'streaming.buffer_tokens',
  ]);
  assert.is(byKey.get('server.port')?.value, 9123);
  assert.is(byKey.get('server.port')?.where, 'SVC_PORT');
  assert.match(byKey.get('streaming.buffer_tokens')?.where ?? '', /svc\.yaml:2$/);
  const text = (await run(place, argv, { env })).stdout;
  assert.match(text, /server\.port +9123 +environment SVC_PORT$/m);
  assert.not.ok(`${stdout}${text}`.includes(KEY));
  place.dispose();
});

test('every listed setting has an effect, and a value that cannot have one is refused', async () => {
  const place = makePlace();
  const { code, stdout } = await run(place, ['config', 'show']);
  assert.is(code, 0);
  assert.not.match(stdout, /not yet|no effect/i);
  assert.not.match(settingsTable(), /not yet in effect/i);
  const env = { ...place.env, SVC_REDIS_URL: 'redis://:s3cret@127.0.0.1:6379/cache' };
  for (const argv of [
    ['config', 'validate'],
    ['config', 'show'],
    ['serve', '--port', '0'],
  ]) {
    const refused = await run(place, argv, { env });
    assert.is(refused.code, 4, argv.join(' '));
    const texts = refused.stdout + refused.stderr;
    assert.match(texts, /shared\.redis_url: .* the number of a database.*\(SVC_REDIS_URL\)/);
    assert.not.match(texts, 's3cret');
  }
  place.dispose();
});

test('schema prints the JSON Schema that editors read', async () => {
  const place = makePlace();
  const { code, stdout } = await run(place, ['config', 'schema']);
  assert.is(code, 0);
  const { properties } = JSON.parse(stdout) as {
    properties: Record<string, { properties: Record<string, unknown> }>;
  };
  assert.equal(properties['compression']?.properties['enabled'], {
    type: 'boolean',
    description: 'Master switch for all compression.',
    default: true,
  });
  place.dispose();
});

test('init writes a private, valid file, and does not overwrite it', async () => {
  const place = makePlace();
  const path = join(place.home, 'config.yaml');
  const umask = process.umask(0);
  try {
    const first = await run(place, ['config', 'init']);
    assert.equal([first.code, first.stdout], [0, `${path}\n`]);
  } finally {
    process.umask(umask);
  }
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.is(statSync(place.home).mode & 0o777, 0o700);
  writeFileSync(path, '# mine\n');
  const second = await run(place, ['config', 'init']);
  assert.is(second.code, exitCodes.conflict);
  assert.match(second.stderr, /exists already\n.*--force/);
  assert.is(readFileSync(path, 'utf8'), '# mine\n');
  assert.is((await run(place, ['config', 'init', '--force'])).code, 0);
  const { stdout } = await run(place, ['config', 'init', '--force', '--json']);
  assert.is((JSON.parse(stdout) as { written: boolean }).written, true);
  assert.is((await run(place, ['config', 'validate'])).code, 0);
  assert.is((await run(place, ['config', 'path'])).stdout, `${path}\n`);
  place.dispose();
});

test('path prints the file that a start would read', async () => {
  const place = makePlace();
  const none = await run(place, ['config', 'path']);
  assert.is(none.stdout, `${join(place.home, 'config.yaml')}\n`);
  assert.match(none.stderr, /does not exist/);
  mkdirSync(place.home);
  writeFileSync(join(place.home, 'config.yaml'), '');
  writeFileSync(join(place.folder, 'proxy.yaml'), '');
  const beside = await run(place, ['config', 'path']);
  assert.equal([beside.stdout, beside.stderr], [`${join(place.folder, 'proxy.yaml')}\n`, '']);
  const named = await run(place, ['config', 'path', '--config', 'x.yaml', '--json']);
  assert.equal(JSON.parse(named.stdout), { path: join(place.folder, 'x.yaml'), exists: false });
  place.dispose();
});

test('validate lists every fault at once, with exit code 4', async () => {
  const place = makePlace();
  writeFileSync(join(place.folder, 'bad.yaml'), 'serverr:\n  port: 1\nserver:\n  port: x\n');
  for (const argv of [
    ['config', 'validate', 'bad.yaml'],
    ['validate-config', 'bad.yaml'],
  ]) {
    const { code, stdout } = await run(place, argv);
    assert.is(code, exitCodes.config);
    assert.match(stdout, /serverr is not a setting; did you mean server\?/);
    assert.match(stdout, /server\.port: found "x"/);
    const json = JSON.parse((await run(place, [...argv, '--json'])).stdout) as {
      valid: boolean;
      faults: { key: string }[];
    };
    assert.is(json.valid, false);
    assert.equal(
      json.faults.map(({ key }) => key),
      ['serverr', 'server.port'],
    );
  }
  const missing = await run(place, ['validate-config', 'nowhere.yaml']);
  assert.is(missing.code, exitCodes.config);
  assert.match(missing.stderr, /it does not exist/);
  place.dispose();
});

test('validate reports what a start would refuse: listening on the network without a key', async () => {
  const place = makePlace();
  writeFileSync(join(place.folder, 'open.yaml'), 'server: { host: 0.0.0.0 }\n');
  const argv = ['config', 'validate', 'open.yaml'];
  const { code, stdout } = await run(place, argv);
  assert.is(code, exitCodes.config);
  assert.match(stdout, /0\.0\.0\.0 would let anyone on the network in.*svc auth --generate/);
  const json = JSON.parse((await run(place, [...argv, '--json'])).stdout) as {
    faults: { key: string; source: string }[];
  };
  assert.equal(
    json.faults.map(({ key, source }) => [key, source]),
    [['server.host', 'file']],
  );
  writeFileSync(
    join(place.folder, 'open.yaml'),
    'server: { host: 0.0.0.0 }\nsecurity: { api_key: abcdefghijklmnop }\n',
  );
  assert.is((await run(place, argv)).code, 0);
  place.dispose();
});

test('loopback is recognised by the whole host name, not by its first part', async () => {
  const place = makePlace();
  const file = join(place.folder, 'host.yaml');
  for (const [host, code] of [
    ['127.example.com', exitCodes.config],
    ['127.0.0.1.example.com', exitCodes.config],
    ['LOCALHOST', 0],
    ['::ffff:127.0.0.1', 0],
    ['127.0.0.2', 0],
  ] as const) {
    writeFileSync(file, `server: { host: "${host}" }\n`);
    assert.is((await run(place, ['config', 'validate', file])).code, code, host);
  }
  place.dispose();
});

test('the output of a provider module is kept out of the results', async () => {
  const place = makePlace();
  const module = join(place.folder, 'loud.mjs');
  writeFileSync(
    module,
    "console.log('loaded'); export default { kind: 'chat', baseUrl: 'https://a.example', auth: 'none' };",
    { mode: 0o600 },
  );
  const file = join(place.folder, 'c.yaml');
  writeFileSync(file, `custom_providers: [{ module: ${module}, name: loud }]\n`);
  const ran = await start(place, ['config', 'validate', file, '--json']).ended;
  assert.is((JSON.parse(ran.stdout) as { valid: boolean }).valid, true);
  assert.match(ran.stderr, /^loaded$/m);
  place.dispose();
});

test('validate compiles the graph: unknown nodes, names and modules are faults', async () => {
  const place = makePlace();
  try {
    const module = join(place.folder, 'p.mjs');
    const file = join(place.folder, 'p.yaml');
    const check = async (source: string, more = '') => {
      writeFileSync(module, source, { mode: 0o600 });
      writeFileSync(file, `plugins: [{ module: ${module} }]\n${more}`);
      return run(place, ['config', 'validate', file]);
    };
    const stage = (node: string) =>
      `export default {\n  name: 'p',\n  stages: [{ on: {}, before: '${node}' }],\n};`;
    assert.is((await check(stage('route'))).code, 0);
    const beside = await check(stage('nowhere'));
    assert.is(beside.code, exitCodes.config);
    assert.match(beside.stdout, /inserts 'p' beside 'nowhere'.*p\.mjs:3/);
    const broken = await check('export default {');
    assert.is(broken.code, exitCodes.config);
    assert.match(broken.stdout, /p\.mjs/);
    const unknown = await check(stage('route'), 'routing: { primary: nobody }\n');
    assert.match(unknown.stdout, /routing\.primary: there is no provider 'nobody'/);
    const recipe = await check(stage('route'), 'compression: { recipes: [./none.yaml] }\n');
    assert.is(recipe.code, exitCodes.config);
    assert.match(recipe.stdout, /none\.yaml/);
  } finally {
    place.dispose();
  }
});

test.run();
