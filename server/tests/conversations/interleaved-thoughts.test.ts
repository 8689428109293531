/**
 * Several thoughts in one message, each before a call of its own, and each signed over what its
 * message has before it: no change of a setting and no second proxy in the same home costs one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { hits } from '../../../fixtures/server/bound-client.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { createBindingProvider } from '../../../fixtures/upstream/binding.ts';
import { startUpstream } from '../../../fixtures/upstream.ts';

type Json = Readonly<Record<string, unknown>>;

const ON = 'compression: { threshold_tokens: 0 }\n';

interface Talk {
  /** Sends the next turn, with the results of all calls of the last one. */
  readonly turn: (t: TestProxy, headers?: Record<string, string>) => Promise<void>;
  /** Counts the tokens of the next turn. */
  readonly count: (t: TestProxy) => Promise<void>;
}

function createTalk(): Talk {
  const messages: Json[] = [{ role: 'user', content: 'Where are the items?' }];
  const body = (more: object) =>
    JSON.stringify({
      model: 'claude-opus-5-5',
      thinking: { type: 'adaptive' },
      tools: [{ name: 'Grep', input_schema: { type: 'object' } }],
      messages,
      ...more,
    });
  const key = { 'x-api-key': 'person' };
  return {
    async turn(t, headers = {}) {
      const sent = { path: '/v1/messages', body: body({ max_tokens: 9 }) };
      const response = await exchange(t.proxy.port, { ...sent, headers: { ...key, ...headers } });
      assert.is(response.status, 200, response.text);
      const { content } = JSON.parse(response.text) as { readonly content: readonly Json[] };
      const results = content
        .filter(({ type }) => type === 'tool_use')
        .map(({ id }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: hits(String(id)),
        }));
      const next = results.length > 0 ? results : 'Go on.';
      messages.push({ role: 'assistant', content }, { role: 'user', content: next });
    },
    async count(t) {
      const sent = { path: '/v1/messages/count_tokens', body: body({}), headers: key };
      const response = await exchange(t.proxy.port, sent);
      assert.is(response.status, 200, response.text);
    },
  };
}

interface Bench extends Talk {
  readonly start: (yaml?: string) => Promise<TestProxy>;
}

/** Runs a conversation; every proxy that it starts has the same home. */
async function converse(use: (bench: Bench) => Promise<void>) {
  const home = mkdtempSync(join(tmpdir(), 'svc-interleaved-'));
  const provider = createBindingProvider({
    says: (turn) => ({
      thinks: true,
      isInterleaved: true,
      calls: ['a', 'b'].map((each) => ({ id: `t${turn}${each}`, name: 'Grep', input: {} })),
    }),
  });
  const running: TestProxy[] = [];
  try {
    await use({
      ...createTalk(),
      async start(yaml = ON) {
        const t = await startTestProxy({ yaml, env: { SVC_HOME: home } });
        running.push(t);
        t.upstream.script(undefined, provider.scenario);
        return t;
      },
    });
    const last = running.flatMap(({ upstream }) => upstream.requests).at(-1)!;
    assert.match(last.body.toString(), '[svc ');
    assert.equal([provider.refused, provider.dropped], [[], []]);
    assert.ok(provider.matched > provider.thoughts);
  } finally {
    for (const t of running) await t.close();
    rmSync(home, { recursive: true, force: true });
  }
}

for (const [what, headers] of [
  ['x-svc-bypass', { 'x-svc-bypass': '1' }],
  ['x-svc-mode: strict', { 'x-svc-mode': 'strict' }],
] as const) {
  test(`${what} in mid-conversation loses no thought`, () =>
    converse(async ({ start, turn, count }) => {
      const t = await start();
      for (let n = 0; n < 3; n += 1) await turn(t);
      await turn(t, headers);
      await count(t);
      for (let n = 0; n < 2; n += 1) await turn(t);
    }));
}

test('a fallback to a chat server and back loses no thinking block', () =>
  converse(async ({ start, turn }) => {
    const spare = await startUpstream();
    try {
      const t = await start(
        `${ON}providers:\n  spare: { kind: chat, base_url: "${spare.url}", auth: none }\nfallback: [spare]\n`,
      );
      for (let n = 0; n < 3; n += 1) await turn(t);
      const recover = t.upstream.script('/v1/messages', '529');
      await turn(t);
      assert.is(spare.requests.length, 1);
      recover();
      for (let n = 0; n < 3; n += 1) await turn(t);
    } finally {
      await spare.close();
    }
  }));

for (const order of ['ABABAB', 'AABBAB', 'BAAABB']) {
  test(`two proxies in the same home folder take turns (${order}) without loss`, () =>
    converse(async ({ start, turn, count }) => {
      const proxies = { A: await start(), B: await start() };
      for (const name of order) {
        const t = proxies[name as 'A' | 'B'];
        await turn(t);
        await count(name === 'A' ? proxies.B : proxies.A);
      }
    }));
}

test.after(closeClients);
test.run();
