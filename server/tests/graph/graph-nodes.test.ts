/** Traces time configured nodes under their names in the graph. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { GraphJson } from '../../graph/json.ts';
import type { StagesJson } from '../../routes/dashboard-now.ts';

test.after(closeClients);

interface TraceJson {
  readonly duration_ms: number;
  readonly stages: readonly {
    readonly name: string;
    readonly node: string;
    readonly within: string | null;
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
      assert.ok(stage.last_out_ms <= forward.last_out_ms + 0.01);
    }
    t.configure(custom);
    await t.proxy.reload();
    const { nodes } = await ask(t, '/v1/chat/completions', json(CHAT));
    assert.not.ok(nodes.includes('provider:acme'));
  }));

test('a fault in the code of a provider is noted at its node', () =>
  withProxy({}, async (t) => {
    for (const hook of ['request', 'response', 'event']) {
      const module = join(dirname(t.db), `${hook}.mjs`);
      const source = `export default { name: 'acme', kind: 'chat', baseUrl: '${t.upstream.url}', auth: 'none',
        ${hook}() { throw new Error('boom'); } };`;
      writeFileSync(module, source, { mode: 0o600 });
      t.configure(
        `custom_providers: [{ module: ${module}, name: acme }]\nrouting: { primary: acme }\n`,
      );
      await t.proxy.reload();
      const body = json(CHAT, { stream: hook === 'event' });
      const { text } = await exchange(t.proxy.port, { path: '/v1/chat/completions', body });
      assert.match(text, `The ${hook} hook of provider 'acme' failed: boom`);
      const trace = (await (await fetch(`${t.proxy.url}/trace/last`)).json()) as {
        stages: readonly { node: string; error?: string }[];
      };
      const faulty = trace.stages.filter(({ error }) => error?.includes('boom'));
      assert.equal(
        faulty.map(({ node }) => node),
        ['provider:acme'],
      );
    }
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

test('traces, their JSON, metrics and the dashboard name stages as the graph does', () =>
  withProxy({}, async (t) => {
    const folder = dirname(t.db);
    const write = (name: string, text: string): void => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    };
    write('tool.yaml', 'name: tool\nmatch: { program: tool }\noperations: [fold_repeats]\n');
    write('macros/builds.yaml', 'steps: [{ recipes: { use: make } }]\n');
    write(
      'late.mjs',
      `export default { name: 'late', setup: () => ({ stages: [
        { name: 'cut', after: 'keep', needs: 'events', on: { chunk: () => undefined } },
        { name: 'own-stream', after: 'keep', transform: () => new TransformStream() },
      ] }) };`,
    );
    t.configure(
      `${provider(t)}routing: { primary: acme }\nmacros: [builds]\nmetrics: { enabled: true }
compression: { recipes: [${join(folder, 'tool.yaml')}, bundled] }
plugins: [{ module: ${join(folder, 'late.mjs')} }]\n`,
    );
    await t.proxy.reload();
    const { trace, nodes } = await ask(t, '/v1/messages', json(MESSAGE, { stream: true }));
    const read = async <T>(path: string): Promise<T> =>
      (await (await fetch(`${t.proxy.url}${path}`)).json()) as T;
    const graph = await read<GraphJson>('/graph');
    const split = graph.answers.flatMap(({ segments }) => segments.flatMap((one) => one.nodes));
    assert.ok(split.some(({ node }) => node === 'split'));
    const drawn = graph.request.flatMap(({ node, within }) => [
      node,
      ...within.map((inner) => inner.node),
      ...(node === 'forward' ? ['split'] : []),
    ]);
    // `trace` only reports when a run has settled: no frame passes it.
    assert.equal(
      nodes,
      drawn.filter((node) => node !== 'trace'),
    );
    for (const node of ['macro:builds', 'recipes', 'provider:acme', 'own-stream', 'cut'])
      assert.ok(nodes.includes(node), node);
    assert.equal(
      trace.stages
        .filter(({ within }) => within !== null)
        .map(({ node, within }) => [node, within]),
      [['provider:acme', 'forward']],
    );
    assert.equal(
      trace.stages.filter(({ name, node }) => name !== node).map(({ name, node }) => [node, name]),
      [
        ['compress', 'compaction'],
        ['inject', 'vault_inject'],
        ['forward', 'upstream_forward'],
      ],
      'the names of the specification',
    );
    const { stages } = await read<StagesJson>('/dashboard/api/stages');
    assert.equal(
      stages.map(({ node, within }) => [node, within]),
      trace.stages.map(({ node, within }) => [node, within]),
    );
    const metrics = await (await fetch(`${t.proxy.url}/metrics`)).text();
    const timed = [...metrics.matchAll(/svc_stage_duration_seconds_count\{stage="([^"]+)"\}/g)];
    assert.equal(
      timed.map(([, node]) => node),
      nodes,
    );
  }));

test.run();
