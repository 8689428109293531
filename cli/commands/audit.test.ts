/** The audit log of a proxy process, and its commands. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place, Spawned } from '../../fixtures/cli/run.ts';

const ON = 'audit: { enabled: true }\n';

interface Running {
  readonly place: Place;
  readonly proxy: Spawned;
  readonly port: number;
  readonly configure: (yaml: string) => void;
}

async function withRunning(yaml: string, use: (running: Running) => Promise<void>): Promise<void> {
  const upstream = await startUpstream();
  const place = makePlace();
  const file = join(place.folder, 'svc.yaml');
  const configure = (text: string) => writeFileSync(file, text, { mode: 0o600 });
  configure(yaml);
  const proxy = start(place, ['serve', '--port', '0', '--config', file], {
    MSGPROV_BASE_URL: upstream.url,
    MSGPROV_API_KEY: 'messages-key',
  });
  try {
    const [, port] = await proxy.prints(/http:\/\/127\.0\.0\.1:(\d+)/);
    await use({ place, proxy, port: Number(port), configure });
  } finally {
    proxy.child.kill('SIGKILL');
    await proxy.ended;
    await upstream.close();
    place.dispose();
  }
}

async function recordsOf(place: Place): Promise<readonly Record<string, unknown>[]> {
  const ran = await run(place, ['audit', 'list', '--json']);
  assert.is(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout).records;
}

/** Waits until the log lists the event: it is written after the response. */
async function untilListed(
  place: Place,
  event: string,
): Promise<readonly Record<string, unknown>[]> {
  for (let attempts = 0; ; attempts += 1) {
    const records = await recordsOf(place).catch(() => []);
    if (records.some((record) => record['event'] === event) || attempts > 2400) return records;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('the audit log has requests, reloads, keys and commands, but no bodies, key texts or values', () =>
  withRunning(ON, async ({ place, proxy, port, configure }) => {
    const messages = [{ role: 'user', content: 'the secret plan' }];
    const headers = { 'x-api-key': 'client-key-value' };
    const response = await exchange(port, { body: json(MESSAGE, { messages }), headers });
    assert.is(response.status, 200);
    configure(`${ON}security: { api_key: new-proxy-key-of-mine }\n`);
    assert.is((await run(place, ['config', 'reload'])).code, 0);
    assert.is((await run(place, ['pause'])).code, 0);
    assert.is((await run(place, ['status'])).code, 0);
    const made = await run(place, ['auth', '--generate', '--label', 'laptop', '--json']);
    const { key, id } = JSON.parse(made.stdout);
    assert.is((await run(place, ['auth', 'revoke', 'laptop'])).code, 0);
    configure(`${ON}server: { port: nonsense }\n`);
    assert.is((await run(place, ['config', 'reload'])).code, exitCodes.config);
    proxy.child.kill('SIGTERM');
    await proxy.ended;

    const records = await recordsOf(place);
    const seen = records.map(({ kind, event }) => `${String(kind)} ${String(event)}`);
    const wanted = [
      'audit created',
      'audit enabled',
      'proxy started',
      'request ok',
      'config reloaded',
      'key rotated',
      'control pause',
      'key generated',
      'key revoked',
      'config refused',
      'proxy stopped',
    ];
    for (const each of wanted) assert.ok(seen.includes(each), `${each}: ${seen.join(', ')}`);
    assert.not.ok(seen.includes('control status'));
    const request = records.find(({ kind }) => kind === 'request');
    assert.is(request?.['model'], 'claude-fixture-1');
    assert.type(request?.['input_tokens'], 'number');
    const reloaded = records.find(({ event }) => event === 'reloaded');
    assert.equal(reloaded?.['keys'], ['security.api_key']);
    assert.is(records.find(({ event }) => event === 'revoked')?.['key_id'], id);
    const text = readFileSync(join(place.home, 'audit.jsonl'), 'utf8');
    for (const secret of ['secret plan', 'client-key-value', 'new-proxy-key', 'messages-key', key])
      assert.not.match(text, secret);
    const verified = await run(place, ['audit', 'verify']);
    assert.is(verified.code, 0, verified.stdout);
    assert.match(verified.stdout, `ok ${records.length} records, 1 to ${records.length}`);
  }));

test('kill -9 of a busy proxy leaves a valid chain, which the next start continues', () =>
  withRunning(ON, async ({ place, proxy, port }) => {
    const client = async () => {
      for (;;) await exchange(port, { body: json(MESSAGE) });
    };
    const clients = [client(), client(), client()].map((one) => one.catch(() => undefined));
    await untilListed(place, 'ok');
    proxy.child.kill('SIGKILL');
    await proxy.ended;
    await Promise.all(clients);
    const verified = await run(place, ['audit', 'verify', '--json']);
    assert.is(verified.code, 0, verified.stdout);
  }));

test('a custom provider is recorded with the hash of its module', async () => {
  const place = makePlace();
  const module = join(place.folder, 'acme.mjs');
  writeFileSync(module, 'export default 1;', { mode: 0o600 });
  place.dispose();
  const yaml = `${ON}custom_providers: [{ module: ${module}, name: acme }]\n`;
  await withRunning(yaml, async ({ place: own }) => {
    const records = await untilListed(own, 'refused');
    const { kind, name } = records.find(({ event }) => event === 'refused') ?? {};
    assert.equal([kind, name], ['plugin', 'acme']);
  });
});

test('the audit log is off by default, and turning it off is its last record', async () => {
  await withRunning('', async ({ place, port, configure }) => {
    await exchange(port, { body: json(MESSAGE) });
    await run(place, ['auth', '--generate']);
    assert.not.ok(existsSync(join(place.home, 'audit.jsonl')));
    const none = await run(place, ['audit', 'list']);
    assert.is(none.code, exitCodes.not_found);
    assert.match(none.stderr, 'audit: { enabled: true }');
    configure(ON);
    await run(place, ['config', 'reload']);
    assert.ok((await untilListed(place, 'reloaded')).some(({ event }) => event === 'enabled'));
    configure('');
    await run(place, ['config', 'reload']);
    const off = await untilListed(place, 'disabled');
    await exchange(port, { body: json(MESSAGE) });
    await run(place, ['auth', '--generate']);
    assert.equal((await recordsOf(place)).length, off.length);
    assert.is(off.at(-1)?.['event'], 'disabled');
  });
});

test('verify names a forged record and exits with 1; export, summary and prune work', async () => {
  const place = makePlace();
  try {
    const env = { ...place.env };
    writeFileSync(join(place.folder, 'proxy.yaml'), ON, { mode: 0o600 });
    for (const label of ['=cmd()', 'b,"c', 'd'])
      await run(place, ['auth', '--generate', '--label', label], { env });
    const log = join(place.home, 'audit.jsonl');
    const originalLog = readFileSync(log, 'utf8');
    const exported = await run(place, ['audit', 'export']);
    assert.is(exported.stdout, originalLog);
    const csv = (await run(place, ['audit', 'export', '--format', 'csv'])).stdout.split('\r\n');
    assert.is(csv.length, 6);
    assert.match(csv[0]!, /^seq,time,kind,event,/);
    const summary = JSON.parse((await run(place, ['audit', 'summary', '--json'])).stdout);
    assert.equal(summary.by_event, { 'audit created': 1, 'key generated': 3 });
    assert.is(summary.cost_usd, null);
    const keys = await run(place, ['audit', 'list', '--kind', 'key', '--limit', '2', '--json']);
    assert.equal(
      JSON.parse(keys.stdout).records.map((one: { label: string }) => one.label),
      ['b,"c', 'd'],
    );
    assert.is((await run(place, ['audit', 'list', '--kind', 'keys'])).code, exitCodes.usage);

    writeFileSync(log, originalLog.replace('"label":"d"', '"label":"e"'));
    const bad = await run(place, ['audit', 'verify']);
    assert.is(bad.code, 1);
    assert.match(bad.stdout, 'Line 4, where record 4 belongs, was edited');
    const prune = ['audit', 'prune', '--before', new Date().toISOString()];
    assert.is((await run(place, prune)).code, exitCodes.conflict);
    writeFileSync(log, originalLog);
    const pruned = await run(place, prune);
    assert.is(pruned.stdout, 'Removed 4 records\n', pruned.stderr);
    const verified = await run(place, ['audit', 'verify']);
    assert.match(verified.stdout, 'ok 1 record, 5 to 5; 4 older ones pruned');
    const future = ['audit', 'prune', '--before', '2099-01-01'];
    assert.is((await run(place, future)).code, exitCodes.usage);
  } finally {
    place.dispose();
  }
});

test.after(closeClients);
test.run();
