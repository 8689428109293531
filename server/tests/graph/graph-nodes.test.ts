/** Traces time configured nodes under their names in the graph. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { GraphJson } from '../../graph/json.ts';

test.after(closeClients);

interface TraceJson {
  readonly duration_ms: number;
  readonly stages: readonly {
    readonly node: string;
    readonly duration_ms: number;
    readonly frames: number;
    readonly first_in_ms: number;
    readonly last_out_ms: number;
  }[];
}

async function ask(t: TestProxy, path: string, body: string) {
  const { status, text } = await exchange(t.proxy.port, { path, body });
  assert.is(status, 200, text);
  const trace = (await (await fetch(`${t.proxy.url}/trace/last`)).json()) as TraceJson;
  return { trace, nodes: trace.stages.map(({ node }) => node) };
}

/**
 * Writes the plugin `acme`: kind chat, with a request hook that marks each request. Returns the
 * settings for it.
 */
function provider(t: TestProxy): string {
  const module = join(dirname(t.db), 'acme.mjs');
  const source = `export default { name: 'acme', kind: 'chat', baseUrl: '${t.upstream.url}', auth: 'none',
    request(request) { request.headers['x-acme'] = 'yes'; } };`;
  writeFileSync(module, source, { mode: 0o600 });
  return `custom_providers: [{ module: ${module}, name: acme }]\n`;
}

test('a provider that is code is timed inside forward', () =>
  withProxy({}, async (t) => {
    const custom = provider(t);
    t.configure(`${custom}routing: { primary: acme }\n`);
    await t.proxy.reload();
    for (const [path, body] of [
      ['/v1/chat/completions', json(CHAT)],
      ['/v1/messages', json(MESSAGE)],
      ['/v1/messages', json(MESSAGE, { stream: true })],
    ] as const) {
      const { trace, nodes } = await ask(t, path, body);
      assert.is(t.upstream.requests.at(-1)!.header('x-acme'), 'yes');
      const stage = trace.stages.find(({ node }) => node === 'provider:acme');
      const forward = trace.stages.find(({ node }) => node === 'forward')!;
      assert.ok(stage !== undefined, nodes.join());
      assert.is(stage.frames, 1);
      assert.ok(stage.first_in_ms >= forward.first_in_ms);
      assert.ok(stage.last_out_ms >= stage.first_in_ms + stage.duration_ms - 0.01);
      assert.ok(stage.last_out_ms <= trace.duration_ms + 0.01);
    }
    t.configure(custom);
    await t.proxy.reload();
    const { nodes } = await ask(t, '/v1/chat/completions', json(CHAT));
    assert.not.ok(nodes.includes('provider:acme'));
  }));

test('a failed provider and its fallback are both timed', () =>
  withProxy({}, async (t) => {
    t.configure(`${provider(t)}fallback: [acme]\n`);
    await t.proxy.reload();
    t.upstream.script(undefined, '500', { times: 1 });
    const { nodes } = await ask(t, '/v1/messages', json(MESSAGE));
    assert.ok(nodes.includes('provider:acme'));
    t.configure(`${provider(t)}routing: { primary: acme, fallback: [chat] }\n`);
    await t.proxy.reload();
    t.upstream.script(undefined, '500', { times: 1 });
    const failed = await ask(t, '/v1/chat/completions', json(CHAT));
    assert.ok(failed.nodes.includes('provider:acme'), failed.nodes.join());
  }));

test('every name in a trace is a node of the graph', () =>
  withProxy({}, async (t) => {
    t.configure(`${provider(t)}routing: { primary: acme }\n`);
    await t.proxy.reload();
    const { nodes } = await ask(t, '/v1/messages', json(MESSAGE, { stream: true }));
    const graph = (await (await fetch(`${t.proxy.url}/graph`)).json()) as GraphJson;
    const known = graph.request.flatMap(({ node, within }) => [
      node,
      ...within.map((inner) => inner.node),
    ]);
    assert.equal(
      nodes.filter((node) => !known.includes(node)),
      [],
    );
    assert.ok(nodes.includes('recipes') && nodes.includes('provider:acme'));
  }));

test.run();
