/**
 * Forward mode from outside: which hosts are intercepted, which requests pass unchanged, which
 * hosts are tunnelled.
 */
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import { systemClock } from '../../../engine/clock.ts';
import * as assert from 'uvu/assert';
import {
  HOSTS,
  requestOn,
  connectHead,
  secured,
  sharedForwardMode,
  textOf,
  withForwardMode,
} from '../../../fixtures/forward-mode.ts';
import type { ForwardMode } from '../../../fixtures/forward-mode.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { toolResult } from '../../../fixtures/server/effects/effect.ts';
import { answer, request } from '../../../fixtures/upstream.ts';
import { toAnswer, toHead } from '../../../fixtures/upstream/answer.ts';

/** For tests that need nothing of their own. */
const forwardMode = sharedForwardMode(test);
const [ANTHROPIC, OPENAI, GOOGLE] = HOSTS;
const CHATGPT = 'chatgpt.com';
const LOG = Array.from({ length: 900 }, (_, n) => `ok ${n} - fetches page ${n % 7}`).join('\n');
/** A request that compression shortens. */
const LONG = String(toolResult(LOG).body);
const JSON_BODY = { 'content-type': 'application/json' };
const KEY = { 'x-api-key': 'mine', ...JSON_BODY };

/** Sends one request on its own connection. */
async function ask(
  t: ForwardMode,
  host: string,
  requestOptions: Parameters<typeof requestOn>[2],
): Promise<{ head: IncomingMessage; text: string }> {
  const socket = await t.open(host);
  const response = await requestOn(socket, host, requestOptions);
  const text = await textOf(response);
  socket.destroy();
  return { head: response, text };
}

test('conversations pass through the graph, each to the provider of the requested host', () =>
  forwardMode(async (t) => {
    const cases = [
      [ANTHROPIC, '/v1/messages?beta=true', json(MESSAGE), KEY],
      [ANTHROPIC, '/v1/messages/count_tokens', json(MESSAGE), KEY],
      [OPENAI, '/v1/chat/completions', json(CHAT), { authorization: 'Bearer mine', ...JSON_BODY }],
      [
        GOOGLE,
        '/v1beta/models/gemini-fixture-1:generateContent',
        json({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }),
        { 'x-goog-api-key': 'mine', ...JSON_BODY },
      ],
    ] as const;
    for (const [host, path, body, headers] of cases) {
      const response = await ask(t, host, { path, headers, body });
      assert.is(response.head.statusCode, 200, `${path}: ${response.text}`);
      assert.ok(response.head.headers['x-request-id'], path);
      const sent = t.upstream.requests.at(-1)!;
      assert.is(sent.target, path);
      assert.is(sent.header('host'), host);
      assert.is(t.network.tunnels.at(-1)?.authority, `${host}:443`);
      assert.ok(sent.body.equals(Buffer.from(body)), path);
      assert.is(sent.header('proxy-authorization'), undefined);
    }
    const stats = await exchange(t.port, { path: '/stats', method: 'GET' });
    assert.is((JSON.parse(stats.text) as { today: { requests: number } }).today.requests, 4);
  }));

test('sends the same bytes as with a base URL', () =>
  forwardMode(async (t) => {
    for (const body of [json(MESSAGE), LONG, json(MESSAGE, { stream: true })]) {
      const headers = { ...KEY, 'anthropic-version': '2023-06-01', 'x-odd-Field': 'a  b' };
      const path = '/v1/messages?beta=true';
      await exchange(t.port, { path, headers, body });
      await ask(t, ANTHROPIC, { path, headers, body });
      const [first, second] = t.upstream.requests.slice(-2);
      assert.ok(first!.body.equals(second!.body));
      const fields = ({
        rawHeaders,
      }: {
        readonly rawHeaders: readonly (readonly [string, string])[];
      }) => rawHeaders.map(([name, value]) => `${name.toLowerCase()}: ${value}`);
      assert.equal(fields(second!).toSorted(), fields(first!).toSorted());
      assert.is(second!.target, first!.target);
    }
  }));

test('a stream is forwarded as it arrives, and cancelling it reaches the provider', () =>
  forwardMode(async (t) => {
    const body = json(MESSAGE, { stream: true });
    const whole = await ask(t, ANTHROPIC, { path: '/v1/messages', headers: KEY, body });
    assert.match(whole.text, 'event: message_stop');
    t.upstream.script(undefined, 'stall-mid-body');
    const socket = await t.open(ANTHROPIC);
    const arrived = t.upstream.nextRequest();
    const response = requestOn(socket, ANTHROPIC, { path: '/v1/messages', headers: KEY, body });
    await arrived;
    const closed = t.upstream.nextClose();
    response.then((got) => got.on('error', () => undefined)).catch(() => undefined);
    socket.destroy();
    await closed;
  }));

test('all other paths and methods are forwarded to the host unchanged, even paths like our own', () =>
  forwardMode(async (t) => {
    const cases: readonly (readonly [host: string, method: string, path: string])[] = [
      [ANTHROPIC, 'GET', '/api/claude_code/settings'],
      [ANTHROPIC, 'GET', '/api/claude_code/policy_limits'],
      [ANTHROPIC, 'GET', '/health'],
      [ANTHROPIC, 'GET', '/stats'],
      [ANTHROPIC, 'GET', '/dashboard'],
      [ANTHROPIC, 'GET', '/'],
      [ANTHROPIC, 'HEAD', '/'],
      [ANTHROPIC, 'POST', '/config/reload'],
      [ANTHROPIC, 'GET', '/v1/svc/blocks/x'],
      [ANTHROPIC, 'GET', '/v1/models?limit=1000'],
      [ANTHROPIC, 'DELETE', '/v1/files/x'],
      [ANTHROPIC, 'GET', '/v1/messages'],
      [ANTHROPIC, 'OPTIONS', '/v1/messages'],
      // Paths of another vendor's API, whose provider would otherwise get this host's credential.
      [ANTHROPIC, 'POST', '/v1/chat/completions'],
      [OPENAI, 'POST', '/v1/messages'],
      [GOOGLE, 'POST', '/v1/responses'],
      [ANTHROPIC, 'POST', '/v1/oauth/token'],
      [ANTHROPIC, 'PUT', '/a/../b//c?x=%2e&y'],
    ];
    t.upstream.script(
      undefined,
      answer(({ request: { method } }) => {
        const fields = [
          ['X-Own', 'a  b'],
          ['x-own', 'c'],
        ] as const;
        return method === 'HEAD'
          ? toAnswer(203, fields, [], 'none')
          : toAnswer(203, fields, [Buffer.from('them')]);
      }),
    );
    for (const [host, method, path] of cases) {
      const headers = ['Authorization', 'Bearer sk-ant-oat-mine', 'x-ODD', '1', 'X-odd', '2'];
      const body = method === 'POST' || method === 'PUT' ? '{"a":1}' : undefined;
      const response = await ask(t, host, {
        path,
        method,
        headers,
        ...(body !== undefined && { body }),
      });
      const what = `${method} ${path}`;
      assert.is(response.head.statusCode, 203, `${what}: ${response.text}`);
      if (method !== 'HEAD') assert.is(response.text, 'them', what);
      assert.equal(response.head.rawHeaders.slice(0, 4), ['X-Own', 'a  b', 'x-own', 'c'], what);
      assert.is(response.head.headers['x-request-id'], undefined, what);
      const sent = t.upstream.requests.at(-1)!;
      assert.equal([sent.method, sent.target], [method, path]);
      assert.equal(
        sent.rawHeaders.flat().slice(0, 2 + headers.length),
        ['Host', host, ...headers],
        what,
      );
      if (body !== undefined) assert.is(sent.body.toString(), body);
    }
    assert.is(t.upstream.requests.length, cases.length);
  }));

test('a subscription’s request is sent unchanged, and is counted', () =>
  withForwardMode({}, async (t) => {
    const body = LONG;
    const headers = { authorization: 'Bearer sk-ant-oat01-mine', ...JSON_BODY };
    await ask(t, ANTHROPIC, { path: '/v1/messages?beta=true', headers, body });
    assert.ok(t.upstream.requests.at(-1)!.body.equals(Buffer.from(body)));
    const recent = await exchange(t.port, { path: '/recent', method: 'GET' });
    assert.match(recent.text, /"model":"claude/);
    // The same request with an API key is compressed.
    await ask(t, ANTHROPIC, { path: '/v1/messages?beta=true', headers: KEY, body });
    assert.ok(t.upstream.requests.at(-1)!.body.length < body.length);
  }));

test("a ChatGPT login is sent unchanged and is counted, if its address is the provider's", () =>
  withForwardMode(
    {
      yaml: 'providers: { chat: { base_url: "https://chatgpt.com/backend-api/codex" } }',
      hosts: [...HOSTS, CHATGPT],
      names: [CHATGPT],
    },
    async (t) => {
      const used = [
        ['X-Codex-Primary-Used-Percent', '41'],
        ['X-Codex-Primary-Window-Minutes', '300'],
        ['X-Codex-Primary-Reset-After-Seconds', '3600'],
      ] as const;
      t.upstream.script(
        undefined,
        answer(() => toAnswer(200, used, [Buffer.from('{}')])),
      );
      const path = '/backend-api/codex/responses';
      const headers = {
        authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.',
        'chatgpt-account-id': 'acct-1',
        ...JSON_BODY,
      };
      const call = { call_id: 'c1', type: 'function_call', name: 'shell', arguments: '{}' };
      const output = { call_id: 'c1', type: 'function_call_output', output: LOG };
      const body = JSON.stringify({ model: 'gpt-fixture-1', store: false, input: [call, output] });
      await ask(t, CHATGPT, { path, headers, body });
      const sent = t.upstream.requests.at(-1)!;
      assert.equal([sent.target, sent.header('host')], [path, CHATGPT]);
      assert.is(sent.body.toString(), body);
      const limits = await exchange(t.port, { path: '/limits', method: 'GET' });
      assert.match(limits.text, /"used":0?\.41|"used_percent":41/);

      await ask(t, CHATGPT, { path: '/backend-api/wham/usage', method: 'GET', headers });
      assert.is(t.upstream.requests.at(-1)!.target, '/backend-api/wham/usage');
      const socket = await t.open(CHATGPT);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${CHATGPT}\r\nChatGPT-Account-Id: acct-1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
      );
      const [refusal] = (await once(socket, 'data')) as [Buffer];
      assert.match(refusal.toString(), /^HTTP\/1\.1 426 /);
      socket.destroy();
    },
  ));

test('a WebSocket is passed on, but refused for a conversation in an unknown protocol', () =>
  forwardMode(async (t) => {
    const upgrade = (host: string, path: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
    const refused = await t.open(OPENAI);
    refused.write(upgrade(OPENAI, '/v1/chat/completions'));
    const [refusal] = (await once(refused, 'data')) as [Buffer];
    assert.match(refusal.toString(), /^HTTP\/1\.1 426 /);
    assert.match(refusal.toString(), /\r\nUpgrade: HTTP\/1\.1\r\n/);
    refused.destroy();
    assert.is(t.upstream.requests.length, 0);

    const accept = createHash('sha1')
      .update('AAAAAAAAAAAAAAAAAAAAAA==258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
      .digest('base64');
    t.upstream.script(
      undefined,
      request(async (line) => {
        const fields = [
          ['Upgrade', 'websocket'],
          ['Connection', 'Upgrade'],
          ['Sec-WebSocket-Accept', accept],
        ] as const;
        await line.write(Buffer.concat([toHead(101, fields), Buffer.from('from the host')]));
        await line.wait(60_000);
      }),
    );
    for (const path of ['/v1/sessions/ws/x', '/ws', '/v1/code/remote']) {
      const socket = await t.open(ANTHROPIC);
      socket.write(upgrade(ANTHROPIC, path));
      let received = '';
      while (!received.endsWith('from the host')) {
        const [bytes] = (await once(socket, 'data')) as [Buffer];
        received += bytes.toString();
      }
      assert.match(received, /^HTTP\/1\.1 101 /);
      assert.is(t.upstream.requests.at(-1)?.target, path);
      socket.destroy();
    }
  }));

test('any other host is tunnelled, and the client sees its own certificate', () =>
  withForwardMode({ names: ['example.test'] }, async (t) => {
    const { socket, status } = await t.connect(connectHead('example.test:443', t.token));
    assert.is(status, 200);
    // The real server's certificate is checked, not one of the local CA.
    const internet = readFileSync(`${t.home}/internet.pem`, 'utf8');
    const tls = await secured(socket, 'example.test', internet);
    const response = await requestOn(tls, 'example.test', {
      path: '/v1/messages',
      headers: KEY,
      body: '{',
    });
    await textOf(response);
    assert.is(t.upstream.requests.at(-1)?.body.toString(), '{');
    tls.destroy();
    const stats = await exchange(t.port, { path: '/stats', method: 'GET' });
    assert.is((JSON.parse(stats.text) as { today: { requests: number } }).today.requests, 0);
  }));

test('a client that sends HTTP/1.0 without a Host gets its tunnel', () =>
  withForwardMode({ names: ['example.test'] }, async (t) => {
    const basic = Buffer.from(`svc:${t.token}`).toString('base64');
    const { socket, status } = await t.connect(
      `CONNECT example.test:443 HTTP/1.0\r\nProxy-Authorization: Basic ${basic}\r\n\r\n`,
    );
    assert.is(status, 200);
    const internet = readFileSync(`${t.home}/internet.pem`, 'utf8');
    (await secured(socket, 'example.test', internet)).destroy();
  }));

test('open tunnels are closed when their token or the authority is removed', () =>
  withForwardMode({ names: ['elsewhere.example'] }, async (t) => {
    const { revokeToken, createToken } = await import('../../forward-proxy/tokens.ts');
    const { removeAuthority } = await import('../../forward-proxy/ca/files.ts');
    const ended = (socket: Duplex) =>
      once(socket, 'close', { signal: AbortSignal.timeout(60_000) });
    const other = createToken(t.home, systemClock, { label: 'other', expires: true });
    const tunnel = await t.connect(connectHead('elsewhere.example:443', other.token));
    assert.is(tunnel.status, 200);
    const intercepted = await t.open(ANTHROPIC);

    const gone = ended(tunnel.socket);
    tunnel.socket.resume().on('error', () => undefined);
    revokeToken(t.home, systemClock, other.id);
    await gone;
    // The connection of another client stays open.
    const turn = { path: '/v1/messages', body: json(MESSAGE), headers: KEY };
    const response = await requestOn(intercepted, ANTHROPIC, turn);
    assert.is(response.statusCode, 200);
    await textOf(response);

    const idle = await t.open(ANTHROPIC);
    idle.on('error', () => undefined);
    const closed = ended(idle);
    removeAuthority(t.home);
    await closed;
  }));

test('without an authority there are no tunnels, and a host that it does not cover is tunnelled', () =>
  withForwardMode({ hosts: [ANTHROPIC] }, async (t) => {
    const { socket, status } = await t.connect(connectHead(`${OPENAI}:443`, t.token));
    assert.is(status, 200);
    const internet = readFileSync(`${t.home}/internet.pem`, 'utf8');
    const tls = await secured(socket, OPENAI, internet);
    tls.destroy();
    const { removeAuthority } = await import('../../forward-proxy/ca/files.ts');
    removeAuthority(t.home);
    const refused = await t.connect(connectHead(`${ANTHROPIC}:443`, t.token));
    assert.is(refused.status, 405);
    assert.match(refused.head, /base URL/);
  }));

test.after(closeClients);
test.run();
