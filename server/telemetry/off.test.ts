import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, start } from '../../fixtures/cli/run.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';

const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('@opentelemetry'));
const requestWith = (headers: Readonly<Record<string, string>>) => ({
  headers,
  body: json(MESSAGE),
});

test('with telemetry off nothing is written and traceparent is forwarded unchanged', () =>
  withProxy({}, async (t) => {
    await exchange(t.proxy.port, requestWith({ traceparent: 'nonsense' }));
    await t.rows(1);
    assert.is(t.upstream.requests[0]?.header('traceparent'), 'nonsense');
    assert.not.ok(isLoaded(), 'no telemetry package is loaded');
    assert.not.ok(existsSync(join(dirname(t.db), 'telemetry.jsonl')));
  }));

test('with telemetry on its packages are loaded', () =>
  withProxy({ yaml: 'telemetry: {enabled: true}' }, async () => {
    assert.ok(isLoaded());
  }));

/** Makes a process's optional packages look uninstalled. */
const WITHOUT = `import { register } from 'node:module';
const hook = \`export async function resolve(name, context, next) {
  if (!name.startsWith('@opentelemetry/')) return next(name, context);
  throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
}\`;
register('data:text/javascript,' + encodeURIComponent(hook));
`;

test('a start with telemetry but without its packages fails with the cause and a remedy', async () => {
  const place = makePlace();
  const hook = join(place.folder, 'without.mjs');
  writeFileSync(hook, WITHOUT);
  mkdirSync(place.home, { mode: 0o700 });
  const serve = (enabled: boolean) => {
    const yaml = `telemetry: { enabled: ${enabled} }\n`;
    writeFileSync(join(place.home, 'config.yaml'), yaml, { mode: 0o600 });
    return start(place, ['serve', '--port', '0'], { NODE_OPTIONS: `--import=${hook}` });
  };
  try {
    const { code, stderr } = await serve(true).ended;
    assert.is(code, 4, stderr);
    assert.match(stderr, /telemetry\.enabled needs packages that are not installed/);
    assert.match(stderr, /npm install --include=optional/);
    assert.not.match(stderr, /^ +at /m, 'no stack');
    const off = serve(false);
    await off.prints(/listens on http/);
    off.child.kill('SIGTERM');
    assert.is((await off.ended).code, 0);
  } finally {
    place.dispose();
  }
});

test.run();
