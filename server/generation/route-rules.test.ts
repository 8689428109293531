import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { isSvcError } from '../../engine/index.ts';
import { doRouteCommand, openRouteRules, routeRulesFile, toRouteCommand } from './route-rules.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

const LOCAL = (url: string): string => `providers:
  local:
    kind: chat
    auth: none
    base_url: ${url}
`;

/** Returns the requests that the provider got, as path and model. */
function requestedModels(t: TestProxy): readonly string[] {
  return t.upstream.requests.map(({ path, body }) => {
    const { model } = JSON.parse(body.toString()) as { model: string };
    return `${path} ${model}`;
  });
}

async function health(t: TestProxy): Promise<Record<string, unknown>> {
  const { text } = await exchange(t.proxy.port, { path: '/health', method: 'GET' });
  return JSON.parse(text) as Record<string, unknown>;
}

test('a rule changes the model, and the trace names the rule', () =>
  withProxy({}, async (t) => {
    t.proxy.services.router.use([
      {
        id: 'small',
        priority: 0,
        model: 'claude-*',
        maxTokens: 100,
        target: 'messages/claude-mini',
      },
    ]);
    const small = await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is(small.status, 200);
    const long = { messages: [{ role: 'user', content: 'word '.repeat(500) }] };
    await exchange(t.proxy.port, { body: json(MESSAGE, long) });
    assert.equal(requestedModels(t), ['/v1/messages claude-mini', '/v1/messages claude-fixture-1']);
    await t.rows(2);
    const trace = await exchange(t.proxy.port, {
      path: `/trace/${small.headers['x-request-id'] as string}`,
      method: 'GET',
    });
    assert.match(trace.text, '"rule small"');
    assert.is(t.proxy.services.router.view().hitRate, 0.5);
    assert.equal((await health(t))['router'], {
      enabled: true,
      rules_loaded: 1,
      smart_routing_hit_rate: 0.5,
    });
  }));

test('a rule may select a provider of another kind', () =>
  withProxy({}, async (t) => {
    t.configure(LOCAL(t.upstream.url));
    await t.proxy.reload();
    t.proxy.services.router.use([
      { id: 'r1', priority: 0, hasTools: false, target: 'local/llama' },
    ]);
    const response = await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is(response.status, 200);
    assert.is((JSON.parse(response.text) as { type: string }).type, 'message');
    assert.equal(requestedModels(t), ['/v1/chat/completions llama']);
    const [row] = await t.rows(1);
    assert.equal([row?.provider, row?.modelRequested], ['local', 'claude-fixture-1']);
  }));

test('a rule without its provider, a disabled router and a bypass change nothing', () =>
  withProxy({}, async (t) => {
    const { router } = t.proxy.services;
    router.use([{ id: 'gone', priority: 0, target: 'gone/x' }]);
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.is(router.view().loaded, 1);
    router.use([{ id: 'r1', priority: 0, target: 'messages/other' }]);
    await exchange(t.proxy.port, { body: json(MESSAGE), headers: { 'x-svc-bypass': '1' } });
    t.configure('routing: { enabled: false }\n');
    await t.proxy.reload();
    router.use([{ id: 'r1', priority: 0, target: 'messages/other' }]);
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    assert.equal(requestedModels(t), Array(3).fill('/v1/messages claude-fixture-1'));
  }));

test('a conversation keeps its model when the rule no longer matches', () =>
  withProxy({}, async (t) => {
    t.proxy.services.router.use([
      { id: 'r1', priority: 0, maxTokens: 60, target: 'messages/claude-mini' },
    ]);
    const first = { role: 'user', content: 'hello' };
    await exchange(t.proxy.port, { body: json(MESSAGE) });
    const later = [first, { role: 'assistant', content: 'x'.repeat(900) }, first];
    await exchange(t.proxy.port, { body: json(MESSAGE, { messages: later }) });
    assert.equal(requestedModels(t), Array(2).fill('/v1/messages claude-mini'));
  }));

function withHome(use: (home: string) => void): void {
  const home = mkdtempSync(join(tmpdir(), 'svc-rules-'));
  try {
    use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

test('rules are stored in a private file, and every fault of a rule is reported', () =>
  withHome((home) => {
    const store = openRouteRules(home, () => ['messages']);
    const rule = { model: 'claude-*', target: 'messages/claude-mini' };
    const added = doRouteCommand(store, toRouteCommand({ do: 'add', rule }));
    assert.is(added.changed?.id, 'r1');
    const file = routeRulesFile(home);
    assert.is(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, 'utf8'), 'claude-mini');
    const bad = { target: 'nobody/x', minTokens: -1, maxTokens: 'many' };
    assert.throws(
      () => doRouteCommand(store, toRouteCommand({ do: 'add', rule: bad })),
      (error: unknown) =>
        isSvcError(error) &&
        error.kind === 'bad_request' &&
        /minTokens.*maxTokens/.test(error.message),
    );
    assert.equal(doRouteCommand(store, { do: 'remove', id: 'r1' }).rules, []);
    for (const input of [undefined, {}, { do: 'add', rule: null }, { do: 'remove' }])
      assert.throws(() => toRouteCommand(input), /route takes/);
  }));

test('reports the place of a fault in a damaged rules file', () =>
  withHome((home) => {
    writeFileSync(
      routeRulesFile(home),
      '{"version":1,"rules":[{"id":"a"},{"id":"b","target":"x"}]}',
    );
    assert.throws(() => openRouteRules(home, () => []).list(), /rule 1: target.*rule 2: target/);
  }));

test.after(closeClients);
test.run();
