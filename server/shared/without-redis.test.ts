/** A proxy whose Redis is unreachable, and one without a Redis setting. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../../fixtures/cli/live.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { until } from '../../fixtures/wait.ts';

const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('ioredis'));

interface Health {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly shared: unknown;
}

test('without a Redis URL the package is not loaded and nothing is reported', () =>
  withProxy({}, async (t) => {
    assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
    const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
    assert.is((JSON.parse(text) as Health).shared, null);
    const metrics = await exchange(t.proxy.port, { path: '/metrics', method: 'GET' });
    assert.not.match(metrics.text, 'svc_shared');
    assert.not.ok(isLoaded());
  }));

test('an unreachable Redis is reported everywhere without its password, and requests continue', async () => {
  const port = await freePort();
  const env = { SVC_REDIS_URL: `redis://ada:s3cret-word@127.0.0.1:${port}/2` };
  const yaml = 'security: { rate_limit_per_minute: 3 }\ncache: { enabled: true }';
  await withProxy({ env, yaml }, async (t) => {
    const body = json(MESSAGE, { temperature: 0 });
    const responses = [0, 1, 2, 3].map(() => exchange(t.proxy.port, { body }));
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    assert.equal(
      statuses.toSorted((a, b) => a - b),
      [200, 200, 200, 429],
      'limits of its own hold',
    );
    const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
    const health = JSON.parse(text) as Health;
    assert.is(health.status, 'degraded');
    assert.equal(health.reasons, [
      `redis: 127.0.0.1:${port}/2 cannot be used: connection refused; limits, cooldowns, breakers and cached answers are this proxy's own meanwhile`,
    ]);
    assert.equal(health.shared, {
      state: 'away',
      place: `127.0.0.1:${port}/2`,
      reason: 'connection refused',
      asked: 0,
      unanswered: 0,
    });
    const read = () => readFileSync(join(dirname(t.db), 'logs', 'svc.log'), 'utf8');
    await until('a line about Redis', () => read().includes('Redis is unreachable'));
    const log = read();
    assert.is(log.split('Redis is unreachable').length, 2, log);
    assert.ok(isLoaded());
    assert.not.match(`${log}${text}`, 's3cret-word');
  });
  await withProxy({ env }, async (t) => {
    const { text } = await exchange(t.proxy.port, { path: '/metrics', method: 'GET' });
    assert.match(text, /^svc_shared_up 0$/m);
    assert.match(text, /^svc_shared_asked_total 0$/m);
  });
});

/** Makes the optional package look uninstalled. */
const WITHOUT = `import { register } from 'node:module';
const hook = \`export async function resolve(name, context, next) {
  if (name !== 'ioredis') return next(name, context);
  throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
}\`;
register('data:text/javascript,' + encodeURIComponent(hook));
`;

test('a start with Redis but without its package fails with the cause and a remedy', async () => {
  const place = makePlace();
  const hook = join(place.folder, 'without.mjs');
  writeFileSync(hook, WITHOUT);
  mkdirSync(place.home, { mode: 0o700 });
  const serve = (env: Readonly<Record<string, string>>) =>
    start(place, ['serve', '--port', '0'], { NODE_OPTIONS: `--import=${hook}`, ...env });
  try {
    const { code, stderr } = await serve({ SVC_REDIS_URL: 'redis://:s3cret@127.0.0.1:9' }).ended;
    assert.is(code, 4, stderr);
    assert.match(stderr, /shared\.redis_url needs a package that is not installed: ioredis/);
    assert.match(stderr, /npm install --include=optional/);
    assert.not.match(stderr, /^ +at |s3cret/m);
    const without = serve({});
    await without.prints(/listens on http/);
    without.child.kill('SIGTERM');
    assert.is((await without.ended).code, 0);
  } finally {
    place.dispose();
  }
});

test('svc doctor tests Redis and reports what is wrong', async () => {
  const place = makePlace();
  mkdirSync(place.home, { mode: 0o700 });
  const port = await freePort();
  const env = { ...place.env, SVC_REDIS_URL: `redis://:s3cret-word@127.0.0.1:${port}` };
  try {
    const { stdout, stderr } = await run(place, ['doctor', '--offline', '--json'], { env });
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; level: string; text: string; cure: string }[];
    };
    const [found] = findings.filter(({ check }) => check === 'Redis');
    assert.equal(
      [found?.level, found?.text],
      ['warning', `127.0.0.1:${port} cannot be used: connection refused`],
    );
    assert.match(found?.cure ?? '', 'svc help redis');
    assert.not.match(`${stdout}${stderr}`, 's3cret-word');
    const none = await run(place, ['doctor', '--offline', '--json']);
    assert.not.match(none.stdout, 'Redis');
  } finally {
    place.dispose();
  }
});

test.after(closeClients);
test.run();
