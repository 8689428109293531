/**
 * Savings by lane: what cache markers save is taken from the provider's usage and credited once.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

type Json = { readonly [name: string]: unknown };

const USAGE = { input: 10, output: 7, cacheRead: 9000, cacheWrite: 1000, reasoning: 0 };
/** Sonnet 4.5, per million tokens: $3 uncached, $0.30 cache reads, $3.75 cache writes. */
const SAVED_USD = (10_010 * 3 - (10 * 3 + 9000 * 0.3 + 1000 * 3.75)) / 1e6;

const OPTIONS: ProxyOptions = { upstream: { replies: () => ({ usage: USAGE }) } };

const SYSTEM = Array.from({ length: 1500 }, (_, n) => `rule${n}`).join(' ');

function request(turns: number, more: object = {}): object {
  const messages = Array.from({ length: 2 * turns - 1 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `word ${n}`,
  }));
  return { model: 'claude-sonnet-4-5', max_tokens: 9, system: SYSTEM, messages, ...more };
}

async function send(t: TestProxy, body: object, headers: Record<string, string> = {}) {
  const response = await exchange(t.proxy.port, { body: JSON.stringify(body), headers });
  assert.is(response.status, 200, response.text);
  return String(response.headers['x-svc-request-id']);
}

async function read(t: TestProxy, path: string): Promise<Json> {
  return JSON.parse((await exchange(t.proxy.port, { method: 'GET', path })).text) as Json;
}

const isClose = (found: unknown, expected: number): boolean =>
  typeof found === 'number' && Math.abs(found - expected) < 1e-9;

test('markers are credited with the cache reads of the provider, less the cost of writing', () =>
  withProxy(OPTIONS, async (t) => {
    await send(t, request(1));
    const id = await send(t, request(2));
    const [first, second] = await t.rows(2);
    assert.equal([first?.breakpoints, first?.costSavedByBreakpointsNanoUsd], [null, null]);
    assert.is(second?.breakpoints, 3, 'system prompt, and the newest messages of two turns');
    assert.is(second?.costSavedByBreakpointsNanoUsd, Math.round(SAVED_USD * 1e9));
    assert.is(second?.costSavedNanoUsd, second?.costSavedByBreakpointsNanoUsd);
    const { savings } = await read(t, `/trace/${id}`);
    const own = (savings as Json)['cache_breakpoints'] as Json;
    assert.equal([own['set'], own['read_tokens'], own['written_tokens']], [3, 9000, 1000]);
    assert.ok(isClose(own['cost_saved'], SAVED_USD));
    const { prompt_cache: prompt } = await read(t, '/cache-stats');
    const stats = (prompt as Json)['breakpoints'] as Json;
    assert.equal([stats['requests'], stats['read_tokens']], [1, 9000]);
    assert.ok(isClose(stats['cost_saved_usd'], SAVED_USD));
    const all = await read(t, '/savings');
    const lanes = all['lanes'] as Readonly<Record<string, Json>>;
    assert.ok(isClose(lanes['cache_breakpoints']!['cost_saved_usd'], SAVED_USD));
    assert.is(lanes['compression']!['cost_saved_usd'], 0);
    assert.equal(lanes['response_cache'], { requests: 0, cost_saved_usd: null });
    assert.equal(lanes['forgetting'], { requests: 0, tokens_saved: 0, cost_saved_usd: null });
    assert.equal(lanes['long_results'], { requests: 0, tokens_saved: 0, cost_saved_usd: null });
    assert.equal(lanes['tools'], { requests: 0, tokens_saved: 0, cost_saved_usd: null });
    assert.equal(lanes['provider_cache'], { read_tokens: 9000, written_tokens: 1000 });
    assert.ok(isClose(all['total_cost_saved_usd'], SAVED_USD), 'the lanes are the sum');
    const [newest] = (await read(t, '/recent'))['recent'] as readonly Json[];
    const paid = (10 * 3 + 9000 * 0.3 + 1000 * 3.75 + 7 * 15) / 1e6;
    assert.ok(isClose(newest!['cost'], paid));
    assert.ok(isClose(newest!['cost_without'], (10_010 * 3 + 7 * 15) / 1e6));
  }));

test('cache reads by a client’s own markers are not credited', () =>
  withProxy(OPTIONS, async (t) => {
    const system = [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }];
    for (const turns of [1, 2, 3]) await send(t, request(turns, { system }));
    await t.rows(3);
    const all = await read(t, '/savings');
    const lanes = all['lanes'] as Readonly<Record<string, Json>>;
    assert.is(all['total_cost_saved_usd'], 0);
    assert.equal(lanes['cache_breakpoints'], {
      requests: 0,
      read_tokens: 0,
      written_tokens: 0,
      cost_saved_usd: null,
    });
    assert.equal(lanes['provider_cache'], { read_tokens: 27_000, written_tokens: 3000 });
  }));

test('a cached response is a lane of its own', () =>
  withProxy({ ...OPTIONS, yaml: 'cache: { enabled: true }' }, async (t) => {
    for (const _ of [1, 2]) {
      await send(t, request(1), { 'x-svc-cache': 'on' });
      await t.rows(_);
    }
    const [paid] = await t.rows(2);
    const all = await read(t, '/savings');
    const lanes = all['lanes'] as Readonly<Record<string, Json>>;
    assert.equal(lanes['response_cache'], {
      requests: 1,
      cost_saved_usd: paid!.costNanoUsd! / 1e9,
    });
    assert.is(lanes['compression']!['cost_saved_usd'], 0);
  }));

test.after(closeClients);
test.run();
