/**
 * Headers that loosen a limit are for the owner: from elsewhere they work only with a key that
 * permits them.
 */
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import { projectRoot } from '../../../fixtures/paths.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { isEnd, openTalk } from '../../../fixtures/server/websocket.ts';
import { readCaptures } from '../../../stages/captures/decode.ts';
import { captureFolder } from '../../../stages/captures/files.ts';
import { openKeyStore } from '../../auth/auth.ts';
import { RIGHTS } from '../../auth/rights.ts';
import type { Right } from '../../auth/rights.ts';

const REMOTE = { 'x-forwarded-for': '10.1.2.3' };
/** A limit that no request can meet. */
const LIMITED = 'budget:\n  enabled: true\n  per_request_usd: 0.000001\n';
const PRICED = { ...MESSAGE, model: 'claude-sonnet-4-5' };

function keyThatMay(t: TestProxy, ...may: Right[]): string {
  const file = join(dirname(t.db), 'keys.json');
  const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
  return store.create({ label: may.join(), may }).key;
}

type Fields = Readonly<Record<string, string>>;

const ask = (t: TestProxy, headers: Fields, body: object = PRICED) =>
  exchange(t.proxy.port, { headers, body: json(body) });

test('x-svc-allow-spend passes a limit on this machine, and elsewhere with the right to it', () =>
  withProxy({ yaml: LIMITED }, async (t) => {
    const allow = { 'x-svc-allow-spend': 'once' };
    const without = keyThatMay(t, 'capture', 'bypass');
    const withIt = keyThatMay(t, 'allow-spend');
    assert.is((await ask(t, {})).status, 402);
    assert.is((await ask(t, allow)).status, 200);
    // The header that carries the key makes no difference.
    for (const field of ['x-svc-key', 'x-api-key', 'authorization']) {
      const carry = (key: string) => ({
        [field]: field === 'authorization' ? `Bearer ${key}` : key,
      });
      for (let turns = 0; turns < 3; turns += 1) {
        const refused = await ask(t, { ...REMOTE, ...allow, ...carry(without) });
        assert.is(refused.status, 402, field);
      }
      assert.is((await ask(t, { ...REMOTE, ...allow, ...carry(withIt) })).status, 200, field);
    }
  }));

test('if this machine needs a key too, the key decides', () =>
  withProxy(
    { yaml: `${LIMITED}security:\n  require_api_key: true\n  api_key: k-1234567\n` },
    async (t) => {
      const allow = { 'x-svc-allow-spend': 'once' };
      const withIt = keyThatMay(t, 'allow-spend');
      assert.is((await ask(t, { ...allow, 'x-svc-key': 'k-1234567' })).status, 402);
      assert.is((await ask(t, { ...allow, 'x-svc-key': withIt })).status, 200);
    },
  ));

test('a frame of a WebSocket is judged like a request', () =>
  withProxy({ yaml: LIMITED }, async (t) => {
    const allow = { 'x-svc-allow-spend': 'once', ...REMOTE };
    const keys = { no: keyThatMay(t), yes: keyThatMay(t, 'allow-spend') };
    const poor = await openTalk(t.proxy.wsPort, { ...allow, 'x-svc-key': keys.no });
    const [refused] = await poor.answered(json(PRICED));
    assert.is(refused?.error?.type, 'spending_limit');
    poor.socket.close();
    const rich = await openTalk(t.proxy.wsPort, { ...allow, 'x-svc-key': keys.yes });
    assert.ok((await rich.answered(json(PRICED))).some(isEnd));
    rich.socket.close();
  }));

test('x-svc-capture turns recording on or off, with the right to it', () =>
  withProxy({}, async (t) => {
    const keys = { no: keyThatMay(t, 'allow-spend'), yes: keyThatMay(t, 'capture') };
    const counts: number[] = [];
    for (const headers of [
      { 'x-svc-capture': 'on' },
      { 'x-svc-capture': 'on', ...REMOTE, 'x-svc-key': keys.no },
      { 'x-svc-capture': 'on', ...REMOTE, 'x-svc-key': keys.yes },
    ]) {
      await ask(t, headers);
      await t.rows(counts.length + 1);
      await t.proxy.services.captures.flush();
      counts.push(readCaptures(captureFolder(dirname(t.db))).records.length);
    }
    assert.equal(counts, [1, 1, 2]);
  }));

test('anyone may send x-svc-bypass, until a plugin has a stage that it would skip', async () => {
  const guard = `plugins:\n  - module: ${join(projectRoot, 'examples/redaction/redact.mjs')}\n    config:\n      salt: a long word\n`;
  const bypass = { 'x-svc-bypass': '1' };
  const isBypassed = async (t: TestProxy, headers: Fields): Promise<boolean> => {
    assert.is((await ask(t, { ...bypass, ...headers })).status, 200);
    const { text } = await exchange(t.proxy.port, { method: 'GET', path: '/trace/last' });
    return text.includes('X-Svc-Bypass');
  };
  await withProxy({}, async (t) => {
    const key = keyThatMay(t);
    assert.ok(await isBypassed(t, {}));
    assert.ok(await isBypassed(t, { ...REMOTE, 'x-svc-key': key }));
  });
  await withProxy({ yaml: guard }, async (t) => {
    const keys = { no: keyThatMay(t, 'capture'), yes: keyThatMay(t, 'bypass') };
    assert.ok(await isBypassed(t, {}));
    assert.not.ok(await isBypassed(t, { ...REMOTE, 'x-svc-key': keys.no }));
    assert.ok(await isBypassed(t, { ...REMOTE, 'x-svc-key': keys.yes }));
  });
});

test('every right can be given to a key', () => {
  assert.equal([...RIGHTS], ['allow-spend', 'capture', 'bypass', 'macro']);
});

test.after(closeClients);
test.run();
