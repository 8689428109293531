/** `svc diff`, `learn`, `savings` and `cache-stats` with and without a running proxy. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

const grepOutput = Array.from(
  { length: 60 },
  (_, n) => `src/components/navigation/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');

const BODY = JSON.stringify({
  model: 'claude-fixture-1',
  max_tokens: 10,
  messages: [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Grep', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: grepOutput }] },
  ],
});

type Json = Readonly<Record<string, unknown>>;

async function asJson(place: Place, ...argv: readonly string[]): Promise<Json> {
  const ran = await run(place, [...argv, '--json']);
  assert.is(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as Json;
}

/** Runs `use` with a proxy process that has forwarded one request, and ends both. */
async function withRunningProxy(
  place: Place,
  use: (requestId: string, port: number) => Promise<void>,
) {
  const upstream = await startUpstream();
  const proxy = start(place, ['serve', '--port', '0'], {
    MSGPROV_BASE_URL: upstream.url,
    SVC_COMPACT_THRESHOLD_TOKENS: '100',
  });
  try {
    const [, port = ''] = await proxy.prints(/listens on http:\S+:(\d+)/);
    const empty = await run(place, ['diff']);
    assert.is(empty.code, exitCodes.not_found);
    const response = await exchange(Number(port), { body: BODY, headers: { 'x-api-key': 'k' } });
    assert.is(response.status, 200, response.text);
    await use(String(response.headers['x-request-id']), Number(port));
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    await upstream.close();
    closeClients();
  }
}

test('with a running proxy: shows changed blocks, learned rules and savings', async () => {
  const place = makePlace();
  await withRunningProxy(place, async (requestId) => {
    const lost = await asJson(place, 'diff');
    assert.is(lost['request_id'], requestId);
    assert.is((lost['blocks'] as Json[])[0]?.['before'], grepOutput);
    assert.equal(await asJson(place, 'diff', requestId), lost);
    const { stdout } = await run(place, ['diff', '--full']);
    assert.match(stdout, new RegExp(`^${requestId} to claude-fixture-1: 1 changed block`));
    assert.match(
      stdout,
      /^block 2: result of Grep \(grep, grep, original under \/v1\/svc\/blocks\//m,
    );
    assert.is(stdout.split('\n').filter((line) => line.startsWith('-src')).length, 60);
    const unknown = await run(place, ['diff', 'another']);
    assert.is(unknown.code, exitCodes.not_found);
    assert.match(unknown.stderr, `The newest are ${requestId.slice(-6)}`);
    assert.equal(await asJson(place, 'diff', requestId.slice(-8)), lost);

    const [pattern] = (await asJson(place, 'learn', 'status'))['patterns'] as Json[];
    assert.equal([pattern?.['tool'], pattern?.['samples']], ['Grep', 1]);
    assert.is((await asJson(place, 'learn', 'reset'))['applied'], null);
    const applied = (await asJson(place, 'learn', 'apply'))['applied'] as Json;
    assert.equal(applied['skip'], []);

    const savings = await asJson(place, 'savings');
    assert.is(savings['total_requests'], 1);
    assert.ok(Number(savings['total_tokens_saved']) > 0);
    assert.is((await asJson(place, 'savings', '--since', '2999-01-01'))['total_requests'], 0);
    const caches = await asJson(place, 'cache-stats');
    assert.is((caches['compression_cache'] as Json)['misses'], 1);
    assert.match((await run(place, ['cache-stats'])).stdout, /Compression +0 of 1 look-up found/);
  });
  const savings = await run(place, ['savings']);
  assert.match(savings.stdout, /claude-fixture-1 +1 +\d+/, 'the ledger outlives the proxy');
  const elsewhere = makePlace();
  const config = join(elsewhere.folder, 'c.yaml');
  writeFileSync(config, `ledger: { db: ${join(place.home, 'monitor.db')} }\n`);
  const found = await asJson(elsewhere, 'savings', '--config', config);
  assert.is(found['total_requests'], 1, 'the ledger of a config file is found');
  elsewhere.dispose();
  const status = await asJson(place, 'learn', 'status');
  assert.ok(status['applied'] !== null, 'applied settings are kept after the proxy ends');
  place.dispose();
});

test('diff shows how and why each block of a conversation with thinking is sent', async () => {
  const place = makePlace();
  await withRunningProxy(place, async (first, port) => {
    assert.match(
      (await run(place, ['diff', first])).stderr,
      /No thinking block is signed over this conversation/,
    );
    const [question, call, result] = (JSON.parse(BODY) as { readonly messages: Json[] }).messages;
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
    const answer = { role: 'assistant', content: [thought, { type: 'text', text: 'There.' }] };
    const messages = [question, call, result, answer, { role: 'user', content: 'And then?' }];
    const { headers } = await exchange(port, {
      body: JSON.stringify({ model: 'claude-opus-5-5', max_tokens: 10, messages }),
      headers: { 'x-api-key': 'k' },
    });
    const id = String(headers['x-request-id']);
    const { stdout } = await run(place, ['diff', id]);
    assert.match(stdout, /^2 +as before +a signed thought depends on what was sent$/m);
    assert.match(stdout, /^0 +as it came +a signed thought depends on its unchanged text$/m);
    assert.match(stdout, /^5 +may be changed +no signed thought depends on it yet$/m);
    const { groups } = await asJson(place, 'diff', id);
    assert.is((groups as Json[]).length, 3);
  });
  place.dispose();
});

test('without a proxy: the stored requests are unavailable, but files can still be previewed', async () => {
  const place = makePlace();
  for (const command of ['diff', 'cache-stats']) {
    const ran = await run(place, [command]);
    assert.is(ran.code, exitCodes.unavailable, command);
    assert.match(ran.stderr, /svc is not running/);
  }
  const status = await run(place, ['learn', 'status']);
  assert.equal([status.code, existsSync(join(place.home, 'learned.json'))], [0, false]);
  assert.match(status.stdout, /Nothing has been learned yet/);
  assert.is((await run(place, ['learn', 'apply'])).code, 0);
  assert.ok(existsSync(join(place.home, 'learned.json')));
  assert.is((await run(place, ['savings'])).code, exitCodes.not_found, 'there is no ledger yet');
  assert.is((await run(place, ['savings', '--since', 'May'])).code, exitCodes.usage);
  place.dispose();
});

test.run();
