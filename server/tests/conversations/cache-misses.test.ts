/**
 * Causes of provider cache misses, from outside: a fake provider that caches like the public ones,
 * and a manual clock.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../engine/index.ts';
import { withPair, withSpare } from '../../../fixtures/forward/pair.ts';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { answer as answering } from '../../../fixtures/upstream.ts';
import { toAnswer } from '../../../fixtures/upstream/answer.ts';
import { createCachingModel } from '../../../fixtures/upstream/caching.ts';
import type { CachingModel } from '../../../fixtures/upstream/caching.ts';
import type { LedgerRow } from '../../../stages/ledger/row.ts';

type Json = { readonly [name: string]: unknown };

const MINUTE_MS = 60_000;
const MARKER = { type: 'ephemeral' };

const words = (count: number, of: string): string =>
  Array.from({ length: count }, (_, n) => `${of}${n}`).join(' ');

const TOOLS = ['Read', 'Bash', 'Grep'].map((name) => ({
  name,
  description: words(100, name),
  input_schema: { type: 'object' },
}));

/** Returns a conversation with `questions` questions and Claude Code's cache markers. */
function conversation(questions: number, more: object = {}): object {
  const messages = Array.from({ length: 2 * questions - 1 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: [
      {
        type: 'text',
        text: words(300, `w${n}x`),
        ...(n === 2 * questions - 2 && { cache_control: MARKER }),
      },
    ],
  }));
  const system = [{ type: 'text', text: words(1500, 'rule'), cache_control: MARKER }];
  return { model: 'claude-sonnet-4-5', max_tokens: 9, tools: TOOLS, system, messages, ...more };
}

interface Place extends TestProxy {
  readonly model: CachingModel;
  readonly wait: (ms: number) => void;
  readonly send: (body: object) => Promise<LedgerRow>;
  readonly read: (path: string) => Promise<Json>;
}

async function withPlace(use: (place: Place) => Promise<void>): Promise<void> {
  let aheadMs = 0;
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs };
  const model = createCachingModel({ clock });
  await withProxy({ clock, upstream: { replies: model.replies, clock } }, async (t) => {
    let sent = 0;
    await use({
      ...t,
      model,
      wait: (ms) => void (aheadMs += ms),
      send: async (body) => {
        const response = await exchange(t.proxy.port, { body: JSON.stringify(body) });
        assert.is(response.status, 200, response.text);
        sent += 1;
        return (await t.rows(sent)).find(({ id }) => id === response.headers['x-svc-request-id'])!;
      },
      read: async (path) =>
        JSON.parse((await exchange(t.proxy.port, { method: 'GET', path })).text) as Json,
    });
  });
}

const missIn = ({ cacheMiss, cacheMissDetail }: LedgerRow) => [cacheMiss, cacheMissDetail];

test('a turn that reads what the previous turn cached has no cause for a miss', () =>
  withPlace(async ({ send }) => {
    assert.equal(missIn(await send(conversation(1))), ['first_request', null]);
    for (const turn of [2, 3, 4]) {
      const row = await send(conversation(turn));
      assert.ok(row.cacheReadTokens! > 3000, 'the provider has cached');
      assert.equal(missIn(row), [null, null]);
    }
  }));

test('reports a changed model, a long pause and changed tools, with their cost', () =>
  withPlace(async ({ send, wait, read }) => {
    await send(conversation(1));
    const hit = await send(conversation(2));
    assert.is(hit.cacheMiss, null);
    const left = hit.cacheReadTokens! + hit.cacheWriteTokens!;
    const other = await send(conversation(3, { model: 'claude-opus-4-1' }));
    assert.equal(missIn(other), ['model', 'claude-opus-4-1 in place of claude-sonnet-4-5']);
    assert.is(other.cacheMissedTokens, left);
    // At $15 a million: written at 1.25 times the price where it could have been read at a tenth.
    assert.is(other.costCacheMissedNanoUsd, Math.round(left * 15_000 * (1.25 - 0.1)));
    await send(conversation(4, { model: 'claude-opus-4-1' }));
    wait(7 * MINUTE_MS);
    const late = await send(conversation(5, { model: 'claude-opus-4-1' }));
    assert.equal(missIn(late), ['pause', '7 min; the cache is kept for 5 min']);
    const tools = [
      { ...TOOLS[0]!, description: 'Reads.' },
      TOOLS[1]!,
      { ...TOOLS[2]!, name: 'New' },
    ];
    const changed = await send(conversation(6, { model: 'claude-opus-4-1', tools }));
    assert.equal(missIn(changed), ['tools', 'changed: Read; added: New; 1 removed']);

    const trace = await read(`/trace/${changed.id}`);
    const miss = trace['cache_miss'] as Json;
    assert.equal([miss['cause'], miss['compared_with']], ['tools', late.id]);
    const [newest] = (await read('/recent'))['recent'] as readonly Json[];
    assert.equal(newest!['cache_miss'], {
      cause: 'tools',
      detail: 'changed: Read; added: New; 1 removed',
      missed_tokens: changed.cacheMissedTokens,
      cost: changed.costCacheMissedNanoUsd! / 1e9,
    });
    const report = await read('/savings/misses');
    const causes = report['causes'] as readonly Json[];
    assert.equal(
      new Set(causes.map(({ cause }) => cause)),
      new Set(['tools', 'pause', 'model', 'first_request']),
    );
    const sum = [other, late, changed].reduce((all, row) => all + row.costCacheMissedNanoUsd!, 0);
    assert.ok(Math.abs(Number(report['cost_missed_usd']) - sum / 1e9) < 1e-9);
  }));

test('reports a marker that is too far after the cached part', () =>
  withPlace(async ({ send }) => {
    const part = (of: string) => ({ type: 'text', text: words(60, of) });
    const marked = (of: string) => ({ ...part(of), cache_control: MARKER });
    const rowAfter = async (name: string, parts: number): Promise<LedgerRow> => {
      const system = [{ type: 'text', text: words(1500, name) }];
      const first = (isNewest: boolean) => {
        const last = isNewest ? marked(`${name}b`) : part(`${name}b`);
        return { role: 'user', content: [part(`${name}a`), last] };
      };
      const turnParts = Array.from({ length: parts }, (_, n) => part(`${name}${n}c`));
      await send(conversation(1, { system, messages: [first(true)] }));
      const next = { role: 'user', content: [marked(`${name}d`)] };
      const messages = [first(false), { role: 'assistant', content: turnParts }, next];
      return send(conversation(1, { system, messages }));
    };
    assert.equal(missIn(await rowAfter('near', 15)), [null, null]);
    const far = await rowAfter('far', 30);
    assert.is(far.cacheMiss, 'no_marker');
    assert.match(far.cacheMissDetail!, /^the next marker is 31 blocks behind what was cached/);
  }));

test('reports a pause longer than the shorter of two lifetimes', () =>
  withPlace(async ({ send, wait }) => {
    const system = [
      { type: 'text', text: words(1500, 'rule'), cache_control: { ...MARKER, ttl: '1h' } },
    ];
    await send(conversation(1, { system }));
    await send(conversation(2, { system }));
    wait(9 * MINUTE_MS);
    assert.equal(missIn(await send(conversation(3, { system }))), [
      'pause',
      '9 min; the cache is kept for 5 min',
    ]);
  }));

test('a cause named by the provider is used, and ours is shown beside it', () =>
  withPlace(async ({ send, read, upstream }) => {
    await send(conversation(1));
    await send(conversation(2));
    const named = {
      diagnostics: {
        cache_miss_reason: { type: 'system_changed', cache_missed_input_tokens: 777 },
      },
    };
    const usage = {
      input_tokens: 9,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 9000,
      output_tokens: 1,
    };
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
    };
    const whole = JSON.stringify({ ...message, stop_reason: 'end_turn', ...named, usage });
    const back = upstream.script(
      undefined,
      answering(() => toAnswer(200, [['content-type', 'application/json']], [Buffer.from(whole)])),
    );
    const row = await send(conversation(3, { tools: TOOLS.slice(1) }));
    back();
    assert.is(row.cacheMiss, 'system');
    assert.is(row.cacheMissedTokens, 777);
    const miss = (await read(`/trace/${row.id}`))['cache_miss'] as Json;
    assert.equal([miss['cause'], miss['compared_cause']], ['system', 'tools']);
    assert.match(
      String(miss['detail']),
      /the provider says system_changed; by our comparison tools/,
    );
  }));

test('reports a change of provider', async () => {
  const { replies } = createCachingModel({ clock: systemClock });
  await withPair(
    { yaml: withSpare('messages', 'providers:'), upstream: { replies } },
    async (t) => {
      const send = (turn: number) =>
        exchange(t.proxy.port, { body: JSON.stringify(conversation(turn)) });
      await send(1);
      await send(2);
      const back = t.upstream.script(undefined, '529');
      await send(3);
      back();
      const rows = await t.rows(3);
      assert.is(rows[2]!.provider, 'spare');
      assert.is(rows[2]!.cacheMiss, 'key_or_provider');
      assert.match(rows[2]!.cacheMissDetail!, /^spare in place of messages/);
    },
  );
});

test('the previous turn is known after a restart, from hashes alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-misses-'));
  let aheadMs = 0;
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs };
  const { replies } = createCachingModel({ clock });
  const options = { clock, env: { SVC_HOME: folder }, upstream: { replies } };
  try {
    const first = await startTestProxy(options);
    for (const turn of [1, 2, 3])
      assert.is(
        (await exchange(first.proxy.port, { body: JSON.stringify(conversation(turn)) })).status,
        200,
      );
    await first.rows(3);
    await first.close();
    const kept = readFileSync(join(folder, 'decisions.jsonl'), 'utf8');
    assert.not.match(kept, /w0x|rule\d|Grep/, 'no text');
    const lines = kept.split('\n').filter((line) => line.includes('"cached"'));
    assert.ok(lines.at(-1)!.length < 700, `a turn takes ${lines.at(-1)!.length} characters`);
    aheadMs += 9 * MINUTE_MS;
    const second = await startTestProxy(options);
    await exchange(second.proxy.port, { body: JSON.stringify(conversation(4)) });
    const row = (await second.rows(1)).at(-1)!;
    await second.close();
    assert.equal(missIn(row), ['pause', '9 min; the cache is kept for 5 min']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.after(closeClients);
test.run();
