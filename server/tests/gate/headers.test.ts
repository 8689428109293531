/** Header fields, credentials and encodings between the client and the provider. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { startUpstream } from '../../../fixtures/upstream.ts';
import {
  CHAT,
  MESSAGE,
  closeClients,
  exchange,
  json,
  sendRaw,
} from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

const BODY = json(MESSAGE);

function lastFields(t: TestProxy): string[] {
  return t.upstream.requests.at(-1)!.rawHeaders.map(([name, value]) => `${name}: ${value}`);
}

test('header fields are sent upstream with their case and order, except ours and hop-by-hop ones', () =>
  withProxy({}, async (t) => {
    const lines = [
      'X-Before: 1',
      'anthropic-beta: future-thing-2031-01-01,other',
      'ANTHROPIC-Version: 2031-01-01',
      'x-Api-KEY: mine',
      'X-Svc-Key: nobody-may-see-this',
      'x-svc-anything: nor this',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'TE: trailers',
      'X-Hop: for this hop only',
      'Connection: close, X-Hop',
      'Content-Type: application/json',
      'Accept-Encoding: gzip, br',
      'User-Agent: test/1',
      'X-Twice: a',
      'X-Twice: b',
      'traceparent: 00-1-2-03',
      `X-Latin: caf\u00e9`,
      `Content-Length: ${BODY.length}`,
      'X-After: 2',
    ];
    const head = `POST /v1/messages?beta=true&x=%20y HTTP/1.1\r\nHost: localhost\r\n${lines.join('\r\n')}\r\n\r\n`;
    // An unknown proxy key would be refused, so the key sent here is a configured one.
    const answer = await sendRaw(t.proxy.port, Buffer.from(head + BODY, 'latin1'));
    assert.match(answer, /^HTTP\/1.1 200 /);
    const request = t.upstream.requests.at(-1)!;
    assert.is(request.target, '/v1/messages?beta=true&x=%20y');
    const hop = /^(?:X-Svc|x-svc|Keep-Alive|Proxy-Conn|TE:|X-Hop|Connection|Content-Length)/;
    const expected = lines.filter((line) => !hop.test(line));
    const received = lastFields(t).filter(
      (line) => !/^(?:host|connection|content-length):/i.test(line),
    );
    assert.equal(received, expected);
    assert.is(request.header('host'), new URL(t.upstream.url).host);
    assert.is(request.header('content-length'), String(BODY.length));
    assert.not.match(request.headerBytes.toString(), /svc/i);
  }));

test('response header fields are returned with their case and order', () =>
  withProxy({}, async (t) => {
    const raw =
      'HTTP/1.1 200 OK\r\nX-First: 1\r\nanthropic-RateLimit-Requests-Remaining: 7\r\nrequest-id: req_theirs\r\nX-Hop: x\r\nConnection: close, X-Hop\r\nKeep-Alive: timeout=9\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    t.upstream.script(undefined, 'raw', { raw });
    const response = await exchange(t.proxy.port, { body: BODY });
    assert.is(response.status, 200);
    assert.equal(response.rawHeaders.slice(0, 14), [
      'X-First',
      '1',
      'anthropic-RateLimit-Requests-Remaining',
      '7',
      'request-id',
      'req_theirs',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'Content-Type',
      'application/json',
      'Content-Length',
      '2',
    ]);
    assert.is(response.headers['x-hop'], undefined);
    assert.match(response.headers['x-request-id'] as string, /^req_/);
  }));

type KeyCase = readonly [sent: Sent, field: string, value: string | undefined];

test('the client’s own key is used first, and a configured one only if there is none', () =>
  withProxy({}, async (t) => {
    const cases: KeyCase[] = [
      [{ body: BODY }, 'x-api-key', 'messages-key'],
      [{ body: BODY, headers: { 'x-api-key': 'mine' } }, 'x-api-key', 'mine'],
      [{ body: BODY, headers: { authorization: 'Bearer mine' } }, 'x-api-key', undefined],
      [{ body: BODY, headers: { authorization: 'Bearer mine' } }, 'authorization', 'Bearer mine'],
      [{ path: '/v1/chat/completions', body: json(CHAT) }, 'authorization', 'Bearer chat-key'],
      [{ path: '/v1/chat/completions', body: json(CHAT) }, 'x-api-key', undefined],
      [{ path: '/v1/embeddings', body: '{}' }, 'authorization', 'Bearer chat-key'],
      [{ path: '/v1/models', method: 'GET' }, 'authorization', 'Bearer chat-key'],
      [
        { path: '/v1/models', method: 'GET', headers: { 'anthropic-version': '1' } },
        'x-api-key',
        'messages-key',
      ],
      [
        { path: '/v1beta/models/m:generateContent', body: '{"contents":[{}]}' },
        'x-goog-api-key',
        'generative-key',
      ],
      [
        { path: '/v1beta/models/m:generateContent?key=mine', body: '{"contents":[{}]}' },
        'x-goog-api-key',
        undefined,
      ],
    ];
    for (const [sent, field, value] of cases) {
      const response = await exchange(t.proxy.port, sent);
      assert.is(response.status, 200, `${JSON.stringify(sent)}: ${response.text}`);
      assert.is(
        t.upstream.requests.at(-1)!.header(field),
        value,
        `${JSON.stringify(sent)}: ${field}`,
      );
    }
    assert.match(t.upstream.requests.at(-1)!.target, 'key=mine');
  }));

test('no key reaches a provider that it was not meant for', async () => {
  const other = await startUpstream();
  const yaml = `
providers:
  elsewhere: { kind: messages, base_url: "${other.url}", api_key: elsewhere-key }
models:
  routed-model: { provider: elsewhere }
`;
  await withProxy({ yaml }, async (t) => {
    const headers = {
      'x-api-key': 'mine',
      authorization: 'Bearer mine-too',
      cookie: 'session=mine',
      'openai-organization': 'mine',
    };
    const response = await exchange(t.proxy.port, {
      path: '/v1/messages?key=mine&beta=true',
      body: json(MESSAGE, { model: 'routed-model' }),
      headers,
    });
    assert.is(response.status, 200, response.text);
    assert.is(t.upstream.requests.length, 0);
    const request = other.requests[0]!;
    assert.is(request.header('x-api-key'), 'elsewhere-key');
    assert.is(request.target, '/v1/messages?beta=true');
    assert.not.match(request.headerBytes.toString(), /mine|messages-key/);
  });
  await other.close();
});

test('a redirect is passed on and never followed', async () => {
  const canary = await startUpstream();
  await withProxy({}, async (t) => {
    const location = `${canary.url}/v1/messages`;
    t.upstream.script(undefined, 'redirect', { status: 307, raw: location });
    const response = await exchange(t.proxy.port, { body: BODY });
    assert.is(response.status, 307);
    assert.is(response.headers.location, location);
    assert.is(canary.requests.length, 0);
  });
  await canary.close();
});

test('encoded requests are read, and forwarded unchanged', () =>
  withProxy({}, async (t) => {
    const packed = {
      gzip: gzipSync(BODY),
      br: brotliCompressSync(BODY),
      deflate: deflateSync(BODY),
    };
    for (const [encoding, body] of Object.entries(packed)) {
      const response = await exchange(t.proxy.port, {
        body,
        headers: { 'content-encoding': encoding },
      });
      const request = t.upstream.requests.at(-1)!;
      assert.ok(request.body.equals(body), encoding);
      assert.is(request.header('content-encoding'), encoding);
      // The 400 is the fake provider's, which cannot read this encoding.
      assert.is(response.status, 400, encoding);
    }
    const rows = await t.rows(3);
    assert.equal(
      rows.map((row) => row.modelRequested),
      Array(3).fill(MESSAGE.model),
    );
  }));

test('a body that is not rewritten is not decoded', () =>
  withProxy({}, async (t) => {
    const body = Buffer.from([0, 255, 1, 254]);
    const headers = {
      'content-encoding': 'unheard-of',
      'content-type': 'application/octet-stream',
    };
    const response = await exchange(t.proxy.port, { path: '/v1/files?purpose=x', body, headers });
    assert.is(response.status, 200);
    const request = t.upstream.requests.at(-1)!;
    assert.ok(request.body.equals(body));
    assert.is(request.header('content-encoding'), 'unheard-of');
  }));

test('encoded responses keep their bytes and are metered', () =>
  withProxy({}, async (t) => {
    for (const name of ['gzip', 'deflate', 'br'] as const) {
      const stop = t.upstream.script(undefined, name);
      for (const stream of [false, true]) {
        const response = await exchange(t.proxy.port, { body: json(MESSAGE, { stream }) });
        assert.is(response.headers['content-encoding'], name);
      }
      stop();
    }
    t.upstream.script(undefined, 'gzip-stream');
    await exchange(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
    const rows = await t.rows(7);
    for (const row of rows) {
      assert.is(row.outcome, 'ok');
      assert.ok((row.outputTokens ?? 0) > 0);
    }
  }));

test('bypass, pause and a subscription’s token leave the request unchanged', () =>
  withProxy({}, async (t) => {
    // A chat stream, to whose body the proxy would otherwise add `stream_options`.
    const body = json(CHAT, { stream: true });
    const path = '/v1/chat/completions';
    const same = async (headers: Record<string, string>) => {
      const response = await exchange(t.proxy.port, { path, body, headers });
      assert.is(response.status, 200);
      return t.upstream.requests.at(-1)!.body.toString() === body;
    };
    assert.not(await same({}), 'usage is asked for');
    for (const value of ['1', 'true', 'On', ' yes '])
      assert.ok(await same({ 'x-svc-bypass': value }), `bypass ${value}`);
    for (const off of ['0', 'false', 'off', 'no'])
      assert.not(await same({ 'x-svc-bypass': off }), `bypass ${off}`);
    const token = 'Bearer sk-ant-oat01-abc';
    assert.ok(await same({ authorization: token }), 'subscription');
    assert.is(t.upstream.requests.at(-1)!.header('authorization'), token);
    t.proxy.app.paused = true;
    assert.ok(await same({}), 'paused');
    t.proxy.app.paused = false;
    assert.not(await same({}), 'resumed');
  }));

test('HEAD responses and 204 have no body', () =>
  withProxy({}, async (t) => {
    const head = await exchange(t.proxy.port, { path: '/v1/models', method: 'HEAD' });
    assert.is(head.status, 200);
    assert.is(head.body.length, 0);
    for (const path of ['/', '/api/hello', '/health']) {
      assert.is((await exchange(t.proxy.port, { path, method: 'HEAD' })).status, 200, path);
    }
    assert.is(t.upstream.requests.length, 1);
    const gone = await exchange(t.proxy.port, { path: '/v1/files/f1', method: 'DELETE' });
    assert.is(gone.status, 200);
    const counted = await exchange(t.proxy.port, {
      path: '/v1/messages/count_tokens?beta=true',
      body: BODY,
    });
    assert.match(counted.text, 'input_tokens');
  }));

test('a client that expects 100 Continue gets it and then sends its body', () =>
  withProxy({}, async (t) => {
    const response = await exchange(t.proxy.port, {
      body: BODY,
      headers: { expect: '100-continue' },
    });
    assert.is(response.status, 200);
    assert.is(t.upstream.requests[0]?.header('expect'), undefined);
  }));

test('a header switch that is neither on nor off is refused, and an empty one is ignored', () =>
  withProxy({}, async (t) => {
    for (const name of ['x-svc-capture', 'x-svc-bypass', 'x-svc-cache']) {
      for (const path of ['/v1/messages', '/v1/files']) {
        const ask = (value: string) =>
          exchange(t.proxy.port, { path, headers: { [name]: value }, body: json(MESSAGE) });
        const refused = await ask('maybe');
        assert.is(refused.status, 400, `${name} ${path}`);
        assert.match(refused.text, `${name}: 'maybe' is neither on nor off`);
        for (const value of ['', 'off', 'FALSE', '0'])
          assert.is((await ask(value)).status, 200, `${name}: ${value}`);
      }
    }
  }));

test.after(closeClients);
test.run();
