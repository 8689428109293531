/** What a client gets if no provider can answer, and what reaches a fallback provider. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer as answering, request as scenario } from '../../fixtures/upstream.ts';
import { toAnswer } from '../../fixtures/upstream/answer.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import type { FullResponse } from '../../fixtures/server/exchange.ts';
import {
  bodyOf,
  direct,
  clientKey,
  traceOf,
  withPair,
  withSpare,
} from '../../fixtures/forward/pair.ts';
import type { Pair } from '../../fixtures/forward/pair.ts';

const MESSAGES = { path: '/v1/messages', body: bodyOf('messages', false) };
const STREAM = { path: '/v1/messages', body: bodyOf('messages', true) };
const SHORT = 'providers:\n  messages: { timeout_seconds: 0.2 }';

function failureOf(response: FullResponse): { status: number; code: string | undefined } {
  const { error } = JSON.parse(response.text) as { error: { code?: string } };
  return { status: response.status, code: error.code };
}

const send = (t: Pair, sent: { path: string; body: string }, headers = clientKey('messages')) =>
  exchange(t.proxy.port, { ...sent, headers });

test("the last provider's own error is passed through unchanged", () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '500');
    t.spare.script(undefined, '529');
    const response = await send(t, STREAM);
    assert.is(response.status, 529);
    assert.ok(response.body.equals((await direct(t.spare, STREAM)).body));
    const [row, ...more] = await t.rows(1);
    assert.is(more.length, 0);
    assert.equal([row?.outcome, row?.status, row?.attempts], ['error', 529, 2]);
  }));

test("the first provider's own error is passed through if the next one cannot be reached", () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '503');
    await t.spare.stopListening();
    const response = await send(t, MESSAGES);
    assert.is(response.status, 503);
    assert.ok(response.body.equals((await direct(t.upstream, MESSAGES)).body));
    const { attempts } = await traceOf(t, response);
    assert.match(attempts[1]?.failure ?? '', 'connection refused');
  }));

test('an error of the gateway in front of a provider moves the request to the next provider', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    for (const status of [520, 521, 527, 528, 530]) {
      t.recover();
      const stop = t.upstream.script(
        undefined,
        answering(() => toAnswer(status, [['Content-Type', 'text/html']], [Buffer.from('<p>')])),
      );
      const response = await send(t, MESSAGES);
      assert.is(response.status, 200, String(status));
      assert.ok(response.body.equals((await direct(t.spare, MESSAGES)).body), String(status));
      const { attempts } = await traceOf(t, response);
      assert.equal(
        attempts.map((each) => [each.provider, each.status]),
        [
          ['messages', status],
          ['spare', 200],
        ],
      );
      stop();
    }
  }));

test('an error event is passed to the client if no other provider can be reached', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, 'error-event', { count: 1 });
    await t.spare.stopListening();
    const response = await send(t, STREAM);
    assert.is(response.status, 200);
    assert.ok(response.body.equals((await direct(t.upstream, STREAM)).body));
    assert.is((await t.rows(1))[0]?.outcome, 'partial');
  }));

test('an error that never ends does not keep the next provider waiting', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    const endless = scenario(async (connection) => {
      await connection.write(
        'HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
      );
      await connection.forever();
    });
    t.upstream.script(undefined, endless);
    const response = await send(t, MESSAGES);
    assert.is(response.status, 200);
    assert.ok(response.body.equals((await direct(t.spare, MESSAGES)).body));
  }));

test('if no provider answers, the error table decides', () =>
  withPair({ yaml: withSpare('messages', SHORT) }, async (t) => {
    t.upstream.script(undefined, 'stall-before-head');
    t.spare.script(undefined, 'reset-before-head');
    assert.equal(failureOf(await send(t, MESSAGES)), { status: 502, code: 'PROVIDER_003' });
    t.recover();
    t.upstream.script(undefined, 'reset-before-head');
    assert.equal(failureOf(await send(t, MESSAGES)), { status: 502, code: 'PROVIDER_003' });
    // The next provider is not even called, so the first one's failure says more.
    t.upstream.script(undefined, 'stall-before-head');
    for (let n = 0; n < 12 && !t.proxy.services.states.get('spare')!.breaker.isOpen(); n += 1) {
      t.proxy.services.states.forceHealth('messages', 'healthy');
      await send(t, MESSAGES);
    }
    t.proxy.services.states.forceHealth('messages', 'healthy');
    assert.equal(failureOf(await send(t, MESSAGES)), { status: 504, code: 'TIMEOUT_001' });
  }));

test('open breakers give 503 with the remaining time and send no request', () =>
  withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '500');
    t.spare.script(undefined, '500');
    for (let n = 0; n < 12; n += 1) await send(t, MESSAGES);
    const sentBefore = t.upstream.requests.length + t.spare.requests.length;
    const response = await send(t, MESSAGES);
    assert.is(response.status, 503);
    assert.match(response.text, '"type":"circuit_open"');
    const waitS = Number(response.headers['retry-after']);
    assert.ok(waitS >= 1 && waitS <= 30, `Retry-After ${waitS}`);
    assert.is(t.upstream.requests.length + t.spare.requests.length, sentBefore);
    const { attempts } = await traceOf(t, response);
    assert.equal(
      attempts.map((each) => each.failure),
      Array.from({ length: 2 }, () => 'not asked: its circuit breaker is open'),
    );
  }));

test('a server error of another kind of provider is PROVIDER_004, and a client error is translated', () =>
  withPair(
    {
      yaml: (url) =>
        `provider: local\nproviders:\n  local: { kind: chat, base_url: "${url}", auth: none }`,
    },
    async (t) => {
      t.spare.script(undefined, '500');
      assert.equal(failureOf(await send(t, MESSAGES)), { status: 502, code: 'PROVIDER_004' });
      for (const status of [400, 404, 429]) {
        t.spare.script(undefined, String(status) as '400');
        const response = await send(t, MESSAGES);
        assert.is(response.status, status);
        assert.match(
          response.text,
          /^\{"type":"error","error":\{"type":"\w+_error","message":"Fixture/,
        );
      }
      assert.is(t.upstream.requests.length, 0);
    },
  ));

const CODING = {
  ...MESSAGE,
  stream: true,
  thinking: { type: 'adaptive' },
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  output_config: { effort: 'high' },
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  tools: [{ name: 'Bash', description: 'Runs.', input_schema: { type: 'object' } }],
  unknown_to_all: { '1': [1e21, 1.5, '\u00e9'] },
};
const BETAS = 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27';

test('a request of a coding agent reaches a fallback of the same kind byte for byte', () =>
  withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, 'error-event', { count: 1 });
    const headers = {
      ...clientKey('messages'),
      'anthropic-beta': BETAS,
      'anthropic-version': '2023-06-01',
      'x-claude-code-session-id': 's-1',
      'user-agent': 'claude-cli/2.1.197',
    };
    // Odd spacing shows that the body was not serialized again.
    const body = json(CODING).replaceAll('":', '" :');
    const response = await send(t, { path: '/v1/messages?beta=true', body }, headers);
    assert.is(response.status, 200);
    const seen = t.spare.requests[0]!;
    assert.is(seen.body.toString(), body);
    assert.is(seen.target, '/v1/messages?beta=true');
    for (const name of ['anthropic-beta', 'anthropic-version', 'x-claude-code-session-id']) {
      assert.is(seen.header(name), headers[name as 'anthropic-beta'], name);
    }
    assert.is(seen.header('x-api-key'), 'spare-key');
    assert.is(
      response.text,
      (await direct(t.spare, { path: '/v1/messages?beta=true', body })).text,
    );
  }));

test('credentials in any header stay with the provider of the path', async () => {
  const secret = {
    'cf-aig-authorization': 'Bearer canary-1',
    'Helicone-Auth': 'Bearer canary-2',
    'ocp-apim-subscription-key': 'canary-3',
    'cf-access-client-secret': 'canary-4',
    'x-auth-token': 'canary-5',
  };
  const plain = { 'idempotency-key': 'same-try', 'x-team': 'blue' };
  const headers = { ...clientKey('messages'), ...secret, ...plain };
  const rule = 'models: { claude-fixture-1: { provider: spare } }';
  const routes = [
    withSpare('messages', 'providers:'),
    withSpare('messages', `${rule}\nproviders:`),
  ];
  for (const yaml of routes) {
    await withPair({ yaml }, async (t) => {
      t.upstream.script(undefined, '503');
      assert.is((await send(t, MESSAGES, headers)).status, 200);
      const [own] = t.upstream.requests;
      const seen = t.spare.requests[0]!;
      assert.not.match(seen.headerBytes.toString(), 'canary');
      assert.is(seen.header('idempotency-key'), 'same-try');
      assert.is(seen.header('x-team'), 'blue');
      if (own !== undefined) assert.is(own.headerBytes.toString().match(/canary/g)?.length, 5);
    });
  }
});

test('a responses request reaches a chat fallback that supports it byte for byte', () =>
  withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '503');
    const tool = { type: 'custom', name: 'apply_patch', format: { type: 'grammar' } };
    const body = json({
      model: 'gpt-fixture-1',
      stream: true,
      store: false,
      input: [{ role: 'user', content: 'hello' }],
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high' },
      tools: [tool],
      client_metadata: { turn: 1 },
    }).replaceAll('":', '" :');
    const sent = { path: '/v1/responses', body };
    const response = await send(t, sent, { ...clientKey('chat'), 'session-id': 's-1' });
    assert.is(response.status, 200);
    const seen = t.spare.requests[0]!;
    assert.is(seen.body.toString(), body);
    assert.equal(
      [seen.target, seen.header('session-id'), seen.header('authorization')],
      ['/v1/responses', 's-1', 'Bearer spare-key'],
    );
    assert.ok(response.body.equals((await direct(t.spare, sent)).body));
  }));

test('a token count goes byte for byte to another provider of the kind, and to no other kind', async () => {
  const body = json(MESSAGE, { tools: [{ name: 'T', input_schema: { type: 'object' } }] });
  const path = '/v1/messages/count_tokens?beta=true';
  const headers = {
    ...clientKey('messages'),
    'anthropic-beta': 'token-counting-2024-11-01,not-yet-known',
  };
  await withPair({ yaml: withSpare('messages', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '500');
    const response = await send(t, { path, body }, headers);
    assert.is(response.status, 200);
    const [received] = t.spare.requests;
    assert.is(received?.body.toString(), body);
    assert.is(received?.target, path);
    assert.is(received?.header('anthropic-beta'), headers['anthropic-beta']);
  });
  await withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
    t.upstream.script(undefined, '500');
    assert.is((await send(t, { path, body }, headers)).status, 500);
    assert.is(t.spare.requests.length, 0);
  });
});

test('a conversation whose primary is of another kind is not sent elsewhere for counting', () =>
  withPair({ yaml: withSpare('chat', 'provider: spare\nproviders:') }, async (t) => {
    const response = await send(t, { path: '/v1/messages/count_tokens', body: json(MESSAGE) });
    assert.is(response.status, 404);
    assert.match(response.text, /'spare'.*counts no tokens/);
    assert.is(t.upstream.requests.length + t.spare.requests.length, 0);
  }));

test.after(closeClients);
test.run();
