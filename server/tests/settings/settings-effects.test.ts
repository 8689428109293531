/**
 * Settings that a running proxy applies on reload, changed one at a time: the effect that a client
 * or the provider sees, next to that of the default, so that a setting without effect is noticed.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { Sent } from '../../../fixtures/server/exchange.ts';

/** Observes a proxy, once with the defaults and once with the setting. */
type Probe = (t: TestProxy) => Promise<unknown>;

const ask = (t: TestProxy, sent: Sent = {}) =>
  exchange(t.proxy.port, { body: json(MESSAGE), ...sent });
const status =
  (sent: Sent = {}): Probe =>
  async (t) =>
    (await ask(t, sent)).status;
const stats: Probe = async (t) =>
  JSON.parse((await ask(t, { path: '/stats', method: 'GET' })).text);
/** Returns what the provider got of a request. */
const sentOn =
  (read: (received: TestProxy['upstream']['requests'][number]) => unknown, sent?: Sent): Probe =>
  async (t) => {
    await ask(t, sent);
    return read(t.upstream.requests.at(-1)!);
  };
const body = (text: Buffer): Record<string, unknown> =>
  JSON.parse(text.toString()) as Record<string, unknown>;
/** Counts how many of two equal requests reach the provider. */
const fetched: Probe = async (t) => {
  const before = t.upstream.requests.length;
  const sent = { headers: { 'x-svc-cache': 'on' }, body: json(MESSAGE, { top_k: before + 1 }) };
  await ask(t, sent);
  await ask(t, sent);
  return t.upstream.requests.length - before;
};
const preflight: Probe = async (t) => {
  const headers = {
    origin: 'https://a.example',
    'access-control-request-method': 'POST',
  };
  const { headers: answered } = await ask(t, { method: 'OPTIONS', headers });
  return answered['access-control-allow-origin'];
};
const get = (path: string): Probe => status({ path, method: 'GET' });

/**
 * Rows: lines of the config file, the probe, its result with the defaults, its result with the
 * lines.
 */
const EFFECTS: readonly (readonly [yaml: string, probe: Probe, before: unknown, after: unknown])[] =
  [
    [
      'compression: { mode: strict }',
      async (t) => ((await stats(t)) as { compilation_mode: string }).compilation_mode,
      'hybrid',
      'strict',
    ],
    [
      'routing: { enabled: false }',
      async (t) => ((await stats(t)) as { router: { enabled: boolean } }).router.enabled,
      true,
      false,
    ],
    ['cache: { enabled: false }', fetched, 1, 2],
    ['cache: { max_size_mb: 0 }', fetched, 1, 2],
    ['metrics: { enabled: false }', get('/metrics'), 200, 404],
    ['security: { require_api_key: true }', status(), 200, 401],
    ['security: { allowed_origins: [https://b.example] }', preflight, '*', undefined],
    ['security: { rate_limit_per_minute: 1 }', isLimited, false, true],
    ['rate_limit: { requests_per_second: 0.001 }', isLimited, false, true],
    ['advanced: { max_request_size_bytes: 10 }', status(), 200, 413],
    ['budget: { enabled: true, total_tokens: 1 }', status(), 200, 402],
    ['provider: chat', sentOn(({ path }) => path), '/v1/messages', '/v1/chat/completions'],
    [
      'models: { claude-fixture-1: { provider: chat } }',
      sentOn(({ path }) => path),
      '/v1/messages',
      '/v1/chat/completions',
    ],
    [
      'providers: { messages: { model_aliases: { claude-fixture-1: other } } }',
      sentOn((received) => body(received.body)['model']),
      'claude-fixture-1',
      'other',
    ],
    [
      'providers: { messages: { extra_body: { service_tier: flex } } }',
      sentOn((received) => body(received.body)['service_tier']),
      undefined,
      'flex',
    ],
    [
      'streaming: { enabled: false }',
      sentOn((received) => body(received.body)['stream'], {
        body: json(CHAT, { stream: true }),
        path: '/v1/chat/completions',
      }),
      true,
      false,
    ],
  ];

/** Four requests, since a new minute may begin between two of them. */
async function isLimited(t: TestProxy): Promise<boolean> {
  const responses = [await ask(t), await ask(t), await ask(t), await ask(t)];
  return responses.some((response) => response.status === 429);
}

test('each setting has its effect after a reload, and none before', () =>
  withProxy({}, async (t) => {
    for (const [yaml, probe, ...expected] of EFFECTS) {
      const seen: unknown[] = [];
      for (const text of ['', yaml]) {
        t.configure(text);
        await t.proxy.reload();
        seen.push(await probe(t));
      }
      assert.equal(seen, expected, yaml);
    }
  }));

test.run();
