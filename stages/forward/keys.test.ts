/** Keys over the wire: which one is sent where, when it cools down, and that it is never shown. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../fixtures/server/exchange.ts';
import {
  PATHS,
  bodyOf,
  clientKey,
  traceOf,
  withPair,
  withSpare,
} from '../../fixtures/forward/pair.ts';
import type { Pair } from '../../fixtures/forward/pair.ts';

const KEYS = {
  MSGPROV_API_KEY: 'canary-first',
  MSGPROV_OAUTH_TOKEN: 'canary-second',
  MSGPROV_OAUTH_TOKEN2: 'canary-third',
};
const withoutSpare = withSpare(undefined, '');

const send = (
  t: Pair,
  headers: Record<string, string> = {},
  stream = false,
): Promise<FullResponse> =>
  exchange(t.proxy.port, { path: PATHS.messages, body: bodyOf('messages', stream), headers });

function sentKeys(t: Pair): string[] {
  return t.upstream.requests.map(
    (each) => each.header('x-api-key') ?? each.header('authorization') ?? '',
  );
}

test('after a failure the next key is used, and tokens are sent as bearer', () =>
  withPair({ yaml: withoutSpare, env: KEYS }, async (t) => {
    t.upstream.script((request) => request.header('x-api-key') !== undefined, '429-seconds');
    t.upstream.script(
      (request) => request.header('authorization') === 'Bearer canary-second',
      '401',
    );
    const response = await send(t);
    assert.is(response.status, 200);
    assert.equal(sentKeys(t), ['canary-first', 'Bearer canary-second', 'Bearer canary-third']);
    const { attempts } = await traceOf(t, response);
    assert.equal(
      attempts.map((each) => each.failure),
      ['status 429', 'status 401', null],
    );
    await send(t);
    assert.is(sentKeys(t)[3], 'Bearer canary-third', 'the others rest');
    const rows = await t.rows(2);
    assert.equal(
      rows.map((row) => [row.outcome, row.attempts]),
      [
        ['ok', 3],
        ['ok', 1],
      ],
    );
  }));

test('round robin uses the keys in turn', () =>
  withPair({ yaml: () => 'keys: { rotation: roundrobin }', env: KEYS }, async (t) => {
    for (let n = 0; n < 4; n += 1) await send(t);
    assert.equal(sentKeys(t), [
      'canary-first',
      'Bearer canary-second',
      'Bearer canary-third',
      'canary-first',
    ]);
  }));

test('when all keys are cooling down, the response states the wait', () =>
  withPair({ yaml: withoutSpare, env: KEYS }, async (t) => {
    const waits: [string | undefined, number][] = [
      ['86400', 600],
      ['soon', 60],
      ['7', 7],
      ['0', 1],
    ];
    for (const [retryAfter, waitS] of waits) {
      const stop = t.upstream.script(
        undefined,
        '429',
        retryAfter === undefined ? {} : { retryAfter },
      );
      const before = t.upstream.requests.length;
      await withPair(
        { yaml: withoutSpare, env: { ...KEYS, MSGPROV_BASE_URL: t.upstream.url } },
        async (fresh) => {
          const response = await send(fresh);
          assert.is(response.status, 429);
          assert.match(response.text, '"code":"RATELIMIT_002"');
          assert.is(Number(response.headers['retry-after']), waitS, `Retry-After: ${retryAfter}`);
          assert.is(t.upstream.requests.length - before, 3, 'each key is used once');
          await send(fresh);
          assert.is(t.upstream.requests.length - before, 3, 'no further request is sent');
        },
      );
      stop();
    }
  }));

test('when all keys are refused the error is PROVIDER_001', () =>
  withPair({ yaml: withoutSpare, env: KEYS }, async (t) => {
    t.upstream.script(undefined, '401');
    for (const attempts of [3, 3]) {
      const response = await send(t);
      assert.is(response.status, 502);
      assert.match(response.text, '"code":"PROVIDER_001"');
      assert.is(t.upstream.requests.length, attempts);
    }
  }));

test('keys without a cooldown are each tried once per request', () =>
  withPair(
    { yaml: () => 'keys: { cooldown_401_seconds: 0, cooldown_429_seconds: 0 }', env: KEYS },
    async (t) => {
      t.upstream.script(undefined, '401');
      assert.match((await send(t)).text, '"code":"PROVIDER_001"');
      t.upstream.script(undefined, '429');
      assert.match((await send(t)).text, '"code":"PROVIDER_002"');
      assert.is(t.upstream.requests.length, 6);
    },
  ));

test("a client's own key is not replaced, rotated, cooled down or sent to another provider", () =>
  withPair({ yaml: withSpare('messages', 'providers:'), env: KEYS }, async (t) => {
    for (const status of ['401', '403'] as const) {
      const stop = t.upstream.script(undefined, status);
      assert.is((await send(t, clientKey('messages'))).status, Number(status));
      stop();
    }
    assert.is((await send(t, { authorization: 'Bearer mine' })).status, 200);
    const stop = t.upstream.script(undefined, '429');
    assert.is((await send(t, { ...clientKey('messages'), cookie: 'mine=1' })).status, 200);
    stop();
    assert.is((await send(t)).status, 200);
    assert.equal(sentKeys(t), ['mine', 'mine', 'Bearer mine', 'mine', 'canary-first']);
    assert.is(t.spare.requests.length, 1);
    assert.not.match(JSON.stringify(t.spare.requests[0]!.rawHeaders), 'mine');
  }));

test("a client's own key is unaffected by the state of the configured keys", () =>
  withPair({ yaml: withSpare('messages', 'providers:'), env: KEYS }, async (t) => {
    t.upstream.script((sent) => sent.header('x-api-key') !== 'mine', '401');
    for (const expectedRequests of [1, 2]) {
      assert.is((await send(t)).status, 200);
      assert.is(t.spare.requests.length, expectedRequests, 'the configured keys are refused');
    }
    assert.is(t.proxy.services.states.view().get('messages')?.health.reason, 'auth');
    assert.is((await send(t, clientKey('messages'))).status, 200);
    assert.is(sentKeys(t).at(-1), 'mine');
    assert.is(t.spare.requests.length, 2);
  }));

test('an empty key header does not count as a key of the client', () =>
  withPair({ yaml: withSpare('messages', 'providers:'), env: KEYS }, async (t) => {
    for (const name of ['x-api-key', 'x-goog-api-key'])
      assert.is((await send(t, { [name]: '' })).status, 200, name);
    assert.equal(sentKeys(t), ['canary-first', 'canary-first']);
  }));

test('a provider that replaces the built-in one uses its own keys', async () => {
  const other = await startUpstream();
  const configWith = (more: string) => () =>
    `provider: other\nproviders:\n  other: { kind: messages, base_url: "${other.url}"${more} }`;
  await withPair({ yaml: configWith(', api_key: other-key') }, async (t) => {
    assert.is((await send(t, { authorization: 'Bearer sk-ant-oat01-mine' })).status, 200);
    assert.is(t.upstream.requests.length, 0);
  });
  assert.is(other.requests[0]?.header('x-api-key'), 'other-key');
  assert.is(other.requests[0]?.header('authorization'), undefined);
  await withPair({ yaml: configWith('') }, async (t) => {
    assert.is((await send(t, clientKey('messages'))).status, 200);
    assert.is(other.requests[1]?.header('x-api-key'), 'mine');
    assert.is((await send(t)).status, 401);
  });
  await other.close();
});

test('no key appears in an answer, a trace, the ledger, a log or any other file', () =>
  withPair({ yaml: withSpare('chat', 'providers:'), env: KEYS }, async (t) => {
    const written: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text: string | Uint8Array) => written.push(String(text)) > 0;
    try {
      const hide = { 'x-api-key': 'canary-client' };
      for (const fault of [
        '401',
        '429',
        '500',
        'reset-before-head',
        'error-event',
        'split',
      ] as const) {
        const stop = t.upstream.script(undefined, fault);
        t.spare.script(undefined, fault);
        for (const headers of [{}, hide]) {
          const response = await send(t, headers, true);
          written.push(
            response.text,
            JSON.stringify(response.headers),
            JSON.stringify(await traceOf(t, response)),
          );
        }
        stop();
        t.recover();
      }
      await t.rows(12);
    } finally {
      process.stderr.write = write;
    }
    for (const file of filesUnder(dirname(t.db))) written.push(readFileSync(file, 'latin1'));
    const secrets = ['canary', Buffer.from('canary-first').toString('base64'), 'spare-key'];
    for (const secret of secrets) {
      assert.not.ok(
        written.some((text) => text.includes(secret)),
        secret,
      );
    }
  }));

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}

test.after(closeClients);
test.run();
