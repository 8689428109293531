/** Why a provider's cache was missed, from outside: a provider that caches as the public ones do, and a clock that is given. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../engine/index.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';
import { createCachingModel } from '../../fixtures/upstream/caching.ts';
import type { CachingModel } from '../../fixtures/upstream/caching.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';

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

/** A conversation with so many questions, marked as Claude Code does it. */
function talk(questions: number, more: object = {}): object {
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
  wait(ms: number): void;
  send(body: object, headers?: Readonly<Record<string, string>>): Promise<LedgerRow>;
  read(path: string): Promise<Json>;
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
      async send(body, headers = {}) {
        const answer = await exchange(t.proxy.port, { body: JSON.stringify(body), headers });
        assert.is(answer.status, 200, answer.text);
        sent += 1;
        return (await t.rows(sent)).find(({ id }) => id === answer.headers['x-svc-request-id'])!;
      },
      read: async (path) =>
        JSON.parse((await exchange(t.proxy.port, { method: 'GET', path })).text) as Json,
    });
  });
}

const missIn = ({ cacheMiss, cacheMissDetail }: LedgerRow) => [cacheMiss, cacheMissDetail];

test('a turn that reads what the turn before left has no cause', () =>
  withPlace(async ({ send }) => {
    assert.equal(missIn(await send(talk(1))), ['first_request', null]);
    for (const turn of [2, 3, 4]) {
      const row = await send(talk(turn));
      assert.ok(row.cacheReadTokens! > 3000, 'the provider has cached');
      assert.equal(missIn(row), [null, null]);
    }
  }));

test('another model, a long pause and other tools are told, with what they cost', () =>
  withPlace(async ({ send, wait, read }) => {
    await send(talk(1));
    const hit = await send(talk(2));
    assert.is(hit.cacheMiss, null);
    const left = hit.cacheReadTokens! + hit.cacheWriteTokens!;
    const other = await send(talk(3, { model: 'claude-opus-4-1' }));
    assert.equal(missIn(other), ['model', 'claude-opus-4-1 in place of claude-sonnet-4-5']);
    assert.is(other.cacheMissedTokens, left);
    // $15 a million: written for 1.25 times of it where it could have been read for a tenth.
    assert.is(other.costCacheMissedNanoUsd, Math.round(left * 15_000 * (1.25 - 0.1)));
    await send(talk(4, { model: 'claude-opus-4-1' }));
    wait(7 * MINUTE_MS);
    const late = await send(talk(5, { model: 'claude-opus-4-1' }));
    assert.equal(missIn(late), ['pause', '7 min; the cache is kept for 5 min']);
    const tools = [
      { ...TOOLS[0]!, description: 'Reads.' },
      TOOLS[1]!,
      { ...TOOLS[2]!, name: 'New' },
    ];
    const changed = await send(talk(6, { model: 'claude-opus-4-1', tools }));
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

test.after(closeClients);
test.run();
