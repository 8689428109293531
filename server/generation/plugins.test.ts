import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../../fixtures/paths.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { answer } from '../../fixtures/upstream.ts';
import { toAnswer } from '../../fixtures/upstream/answer.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

const example = readFileSync(join(projectRoot, 'examples/provider/acme.mjs'), 'utf8');

/**
 * Runs `use` with a proxy whose plugin `acme` has the source `text` and points to the fake
 * upstream; `write` changes the module.
 */
async function withAcme(
  text: (url: string) => string,
  use: (t: TestProxy, write: (text: string) => void, config: string) => Promise<void>,
  yaml = '',
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-acme-'));
  const module = join(folder, 'acme.mjs');
  const write = (content: string): void => {
    writeFileSync(module, content);
    chmodSync(module, 0o600);
  };
  process.env['ACME_API_KEY'] = 'acme-secret-key';
  try {
    await withProxy({}, async (t) => {
      write(text(t.upstream.url));
      const config = `custom_providers:\n  - { module: ${module}, name: acme }\n${yaml}`;
      t.configure(config);
      await t.proxy.reload();
      await use(t, write, config);
    });
  } finally {
    delete process.env['ACME_API_KEY'];
    rmSync(folder, { recursive: true, force: true });
  }
}

const at = (url: string): string => example.replace('http://127.0.0.1:9999', url);

async function health(t: TestProxy): Promise<{ status: string; reasons: string[] }> {
  const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
  return JSON.parse(text) as { status: string; reasons: string[] };
}

test('the example serves chat and messages clients with its own header, path and key', () =>
  withAcme(
    at,
    async (t) => {
      const document = { id: 'x', object: 'chat.completion', created: 1, model: 'acme-fast-2' };
      const choice = { index: 0, message: { role: 'assistant', output_text: 'from acme' } };
      const body = { ...document, choices: [{ ...choice, finish_reason: 'stop' }] };
      t.upstream.script(
        undefined,
        answer(() =>
          toAnswer(
            200,
            [['Content-Type', 'application/json']],
            [Buffer.from(JSON.stringify(body))],
          ),
        ),
      );
      const chat = await exchange(t.proxy.port, {
        path: '/v1/chat/completions',
        body: json(CHAT, { model: 'fast' }),
      });
      assert.match(chat.text, '"content":"from acme"');
      const message = await exchange(t.proxy.port, { body: json(MESSAGE, { model: 'fast' }) });
      assert.match(message.text, '"type":"text","text":"from acme"');
      for (const sent of t.upstream.requests) {
        assert.is(sent.path, '/api/2026-01/chat/completions');
        assert.is(sent.header('x-acme-tenant'), 'demo');
        assert.is(sent.header('authorization'), 'Bearer acme-secret-key');
        assert.is((JSON.parse(sent.body.toString()) as { model: string }).model, 'acme-fast-2');
      }
    },
    'routing: { primary: acme }\n',
  ));

test('the stream of the example is read event by event', () =>
  withAcme(
    (url) =>
      at(url)
        .replace("event.data.type === 'keep-alive'", 'event.data.usage')
        .replace("request.path.replace('/v1/', '/2026-01/')", 'request.path'),
    async (t) => {
      const sent = {
        path: '/v1/chat/completions',
        body: json(CHAT, { stream: true, stream_options: { include_usage: true } }),
      };
      const streamed = await exchange(t.proxy.port, sent);
      assert.is(streamed.status, 200);
      assert.not.match(streamed.text, 'prompt_tokens');
      assert.match(streamed.text, '[DONE]');
    },
    'routing: { primary: acme }\n',
  ));

test('a hook that throws fails its attempt, and the fallback responds', () =>
  withAcme(
    (url) =>
      at(url).replace(
        "request.headers['x-acme-tenant'] = 'demo';",
        "throw new Error('no tenant');",
      ),
    async (t, _write, config) => {
      const sent = { path: '/v1/chat/completions', body: json(CHAT) };
      const failed = await exchange(t.proxy.port, sent);
      assert.is(failed.status, 502);
      assert.match(failed.text, "The request hook of provider 'acme' failed: no tenant");
      assert.is(t.upstream.requests.length, 0);
      t.configure(`${config}fallback: [chat]\n`);
      await t.proxy.reload();
      const response = await exchange(t.proxy.port, sent);
      assert.is(response.status, 200);
      const [, row] = await t.rows(2);
      // The id in the response header is the provider's own, so take ours from the row.
      const path = `/trace/${row?.id ?? ''}`;
      const trace = await exchange(t.proxy.port, { path, method: 'GET' });
      assert.match(trace.text, 'no tenant');
      assert.is(t.upstream.requests[0]?.header('x-acme-tenant'), undefined);
    },
    'routing: { primary: acme }\n',
  ));

test('/health names a faulty module, and everything else works', () =>
  withAcme(
    (url) => at(url).replace("kind: 'chat'", "kind: 'soap'"),
    async (t, write) => {
      const wrong = await health(t);
      assert.is(wrong.status, 'degraded');
      assert.match(wrong.reasons.join(), /custom provider acme: .*acme\.mjs: kind: expected/);
      assert.is((await exchange(t.proxy.port, { body: json(MESSAGE) })).status, 200);
      write(at(t.upstream.url));
      await t.proxy.reload();
      assert.equal([...t.proxy.services.states.view().keys()].includes('acme'), true);
    },
  ));

test('a reload reports which modules it loaded and which it could not use', () =>
  withAcme(at, async (t, write) => {
    const reported = async () => {
      const { text } = await exchange(t.proxy.port, { path: '/config/reload' });
      const { applied, warnings } = JSON.parse(text) as Record<string, readonly string[]>;
      return { applied, warnings: warnings?.join() };
    };
    assert.equal(await reported(), { applied: [], warnings: '' });
    write(at(t.upstream.url).replace("'demo'", "'other'"));
    assert.equal(await reported(), { applied: ['custom_providers.acme'], warnings: '' });
    write('export default {');
    const { applied, warnings } = await reported();
    assert.equal(applied, []);
    assert.match(warnings ?? '', /custom provider acme: .*acme\.mjs: Unexpected end of input/);
  }));

test('a response cached under other hooks is not served', () =>
  withAcme(
    (url) => at(url).replace("request.path.replace('/v1/', '/2026-01/')", 'request.path'),
    async (t, write) => {
      const headers = { 'x-svc-cache': 'on' };
      const sent = { path: '/v1/chat/completions', body: json(CHAT), headers };
      const cache = async () => (await exchange(t.proxy.port, sent)).headers['x-svc-cache'];
      assert.equal([await cache(), await cache()], [undefined, 'hit']);
      write(at(t.upstream.url).replace("'/2026-01/'", "'/v1/'"));
      await t.proxy.reload();
      assert.is(await cache(), undefined);
    },
    'routing: { primary: acme }\ncache: { enabled: true }\n',
  ));

test('a primary that could not be loaded is reported to the client', () =>
  withAcme(
    () => 'export default {}',
    async (t) => {
      const { status, text } = await exchange(t.proxy.port, { body: json(MESSAGE) });
      assert.is(status, 503);
      assert.match(text, "Provider 'acme' is not available");
    },
    'routing: { primary: acme }\n',
  ));

/**
 * Hook sources that leave a request which cannot be sent or serialised, with the expected error.
 */
const REQUEST_FAULTS: readonly (readonly [string, RegExp])[] = [
  ['request.body.self = request.body', /no body that can be written as JSON: .*circular/],
  ['request.body.x = 10n', /no body that can be written as JSON: .*BigInt/],
  ['request.body = undefined', /no body that can be written as JSON/],
  ['request.body = () => 1', /no body that can be written as JSON/],
  [
    "Object.defineProperty(request.body, 'z', { enumerable: true, get() { throw new Error('gg') } })",
    /written as JSON: gg/,
  ],
  ["request.body.toJSON = () => { throw new Error('tj') }", /written as JSON: tj/],
  ["Object.defineProperty(request, 'path', { get() { throw new Error('pp') } })", /failed: pp/],
  ['return 5', /returned something that is not { path, headers, body }; return that, or nothing/],
  ['return request.body', /returned something that is not { path, headers, body }/],
  ["request.path = '/a\\r\\nb: c'", /a path that cannot be sent/],
  ["request.path = '/a b'", /a path that cannot be sent/],
  ["request.path = '/\u00fc'", /a path that cannot be sent/],
  ["request.headers['content-length'] = '3'", /'content-length', which the proxy sets itself/],
  ["request.headers['Transfer-Encoding'] = 'chunked'", /'transfer-encoding', which the proxy/],
  ["request.headers.host = 'evil'", /'host', which the proxy sets itself/],
  ["request.headers.expect = '100-continue'", /'expect', which the proxy sets itself/],
  ["request.headers.connection = 'upgrade'", /'connection', which the proxy sets itself/],
  ["request.headers['x-a'] = 5", /the header field 'x-a', whose value is not a string/],
  ["request.headers['x-a'] = 'a\\u0001b'", /'x-a', which cannot be sent/],
  ["request.headers['x-a'] = 'a \u2014 b'", /'x-a', which cannot be sent/],
  ['request.headers = new Headers()', /headers that are not a plain object/],
  ['request.headers = null', /headers that are not a plain object/],
  ['throw null', /failed: null/],
  ['throw Object.create(null)', /failed: a value without a message/],
  ['return { then() {} }', /returned a promise/],
  [
    "throw Object.assign(new Error('mine'), { [Symbol.for('svc.error')]: true, kind: 'internal' })",
    /failed: mine/,
  ],
];

test('an invalid result of a request hook is reported as a fault of the hook, not of the upstream', () =>
  withAcme(
    at,
    async (t, write) => {
      for (const [fault, reported] of REQUEST_FAULTS) {
        write(at(t.upstream.url).replace('delete request.body.stream_options;', `${fault};`));
        await t.proxy.reload();
        const sent = { path: '/v1/chat/completions', body: json(CHAT) };
        const { status, text } = await exchange(t.proxy.port, sent);
        assert.is(status, 502, fault);
        assert.match(text, "The request hook of provider 'acme' failed: ", fault);
        assert.match(
          (JSON.parse(text) as { error: { message: string } }).error.message,
          reported,
          fault,
        );
      }
      assert.is(t.upstream.requests.length, 0);
      const { breaker, health: printed } = t.proxy.services.states.view().get('acme')!;
      assert.equal([breaker.state, breaker.failures, printed.state], ['closed', 0, 'healthy']);
    },
    'routing: { primary: acme }\n',
  ));

const RESPONSE_FAULTS = [
  'body.self = body',
  'body.n = 1n',
  'return { status: 200, body: undefined }',
  "return { get body() { throw new Error('rr') } }",
  'return 7',
];

test('an invalid result of a response or event hook is reported as a fault of the hook', () =>
  withAcme(
    at,
    async (t, write) => {
      const plain = "request.path.replace('/v1/', '/2026-01/')";
      for (const fault of RESPONSE_FAULTS) {
        const text = at(t.upstream.url).replace(plain, 'request.path');
        write(text.replace('for (const choice', `${fault};\n    for (const choice`));
        await t.proxy.reload();
        const sent = { path: '/v1/chat/completions', body: json(CHAT) };
        const received = await exchange(t.proxy.port, sent);
        assert.is(received.status, 502, fault);
        assert.match(received.text, "The response hook of provider 'acme' failed: ", fault);
      }
      for (const fault of ['event.data.self = event.data', 'return 7', "event.event = 'a\\nb'"]) {
        const text = at(t.upstream.url).replace(plain, 'request.path');
        write(text.replace('return event.data.type', `${fault};\n    return event.data.type`));
        await t.proxy.reload();
        const body = json(CHAT, { stream: true });
        const reported = await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
        assert.match(reported.text, "The event hook of provider 'acme' failed: ", fault);
      }
      const { breaker, health: printed } = t.proxy.services.states.view().get('acme')!;
      assert.equal([breaker.state, breaker.failures, printed.state], ['closed', 0, 'healthy']);
    },
    'routing: { primary: acme }\n',
  ));

test.after(closeClients);
test.run();
