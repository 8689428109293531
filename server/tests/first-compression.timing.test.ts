/** The first compression after a start finds loaded what it needs. */
import { setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

/** Loading in the background takes a fifth of this on a quiet machine. */
const LOADED_MS = 3000;
/** Loading takes 160 ms and more; what is loaded and was never compiled is done well below. */
const FIRST_MS = 60;

const HITS = Array.from({ length: 60 }, (_, n) => `src/item.tsx:${n + 1}:  use(item${n});`);

const BODY = {
  model: 'claude-fixture-1',
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Grep', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: HITS.join('\n') }],
    },
  ],
};

interface Traced {
  readonly stages: readonly { readonly name: string; readonly duration_ms: number }[];
}

test('the first compression after a start takes no longer than a later one may', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0 }' }, async (t) => {
    await setTimeout(LOADED_MS);
    await exchange(t.proxy.port, { body: json(BODY) });
    assert.match(t.upstream.requests[0]!.body.toString(), '[svc ');
    await t.rows(1);
    const { text } = await exchange(t.proxy.port, { path: '/trace/last', method: 'GET' });
    const { stages } = JSON.parse(text) as Traced;
    const ms = stages.find(({ name }) => name === 'compaction')!.duration_ms;
    assert.ok(ms < FIRST_MS, `${ms} ms`);
  }));

test.after(closeClients);
test.run();
