/**
 * Parsing a config file takes time in proportion to its size, and a malformed file gives a fault,
 * never a crash.
 */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import { inspectConfig } from './load.ts';
import { fromText } from '../../fixtures/server/config-text.ts';
import { readYaml, YAML_LIMITS } from './yaml.ts';

async function reason(text: string): Promise<string> {
  const outcome: unknown = await readYaml(text, 'f').catch((thrown: unknown) => thrown);
  return isSvcError(outcome) ? outcome.message : 'accepted';
}

function aliases(count: number): string {
  return `a: &a 1\nb: [${Array.from({ length: count }, () => '*a').join(', ')}]`;
}

test('each limit of a YAML document is enforced on its own', async () => {
  assert.is(await reason(aliases(YAML_LIMITS.aliases)), 'accepted');
  assert.match(await reason(aliases(YAML_LIMITS.aliases + 1)), 'more than 50 aliases');
  const long = Array.from({ length: 1000 }, () => '1').join(', ');
  const followed = Array.from({ length: 20 }, () => '*a').join(', ');
  assert.match(await reason(`a: &a [${long}]\nb: [${followed}]`), 'too many values');
  const nested = Array.from({ length: 40 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
  assert.match(await reason(nested), 'nested too deeply');
});

test('a syntax error does not quote the source', async () => {
  for (const text of [
    'k: !canary x',
    'k: |canary\n  x',
    'a: b\n%canary',
    'k: "\\canary"\n]canary',
  ]) {
    const error: unknown = await readYaml(text, 'f').catch((thrown: unknown) => thrown);
    assert.ok(isSvcError(error), text);
    assert.not.match(error.message, /canary/);
  }
});

test('aliases within the limit are resolved, and brackets inside text do not count as nesting', async () => {
  const file = await readYaml(`base: &base {x: 1}\na: *base\nb: "${'['.repeat(500)}"`, 'f');
  assert.equal(JSON.parse(JSON.stringify(file.data)).a, { x: 1 });
  assert.is(file.originOf(['a']).where, 'f:2');
  assert.is(file.originOf(['b', 'deeper']).where, 'f:3');
});

test('maps have no prototype', async () => {
  const { data } = await readYaml('server: {port: 1}', 'f');
  assert.is(Object.getPrototypeOf(data), null);
});

test('a file may contain as many values as the limit allows', async () => {
  const settings = Array.from({ length: 1000 }, (_, index) => `    m${index}: model-${index}`);
  const file = await readYaml(
    `providers:\n  chat:\n   model_aliases:\n${settings.join('\n')}`,
    'f',
  );
  assert.is(file.faults.length, 0);
  assert.ok(YAML_LIMITS.tokens > 5 * settings.length);
});

const SCALAR = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.double().map(String),
  fc.constantFrom(
    '~',
    '.nan',
    '-.inf',
    '0o17',
    '0x1f',
    '1e999',
    '<<',
    '*a',
    '&a',
    '!!str',
    '2026-11-20',
    '"\\u0000"',
    '|',
    '>-',
  ),
);

const KEY = fc.constantFrom(
  'server.port',
  'server.host',
  'compression.mode',
  'cache.ttl_seconds',
  'security.api_key',
  'security.allowed_origins',
  'providers.chat.base_url',
  'providers.x.kind',
  'providers.chat.headers',
  'routing.fallback',
  'custom_providers',
  'models.a.provider',
  'ledger.db',
  'vault.root',
  'unknown.key',
);

test('any scalar either loads or fails with a config error', async () => {
  await fc.assert(
    fc.asyncProperty(KEY, SCALAR, async (key, scalar) => {
      const path = key.split('.');
      const lines = path.map((segment, depth) => `${'  '.repeat(depth)}${segment}:`);
      const outcome: unknown = await inspectConfig(
        fromText({ file: `${lines.join('\n')} ${scalar}` }),
      ).catch((thrown: unknown) => thrown);
      if (outcome instanceof Error)
        assert.ok(isSvcError(outcome) && outcome.kind === 'config', String(outcome));
    }),
    { numRuns: 200, seed: 20261120 },
  );
});

test('any file either loads or fails with a config error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ maxLength: 300 }), fc.json()), async (text) => {
      const outcome: unknown = await inspectConfig(fromText({ file: text })).catch(
        (thrown: unknown) => thrown,
      );
      if (outcome instanceof Error)
        assert.ok(isSvcError(outcome) && outcome.kind === 'config', String(outcome));
    }),
    { numRuns: 200, seed: 20261120 },
  );
});

test.run();
