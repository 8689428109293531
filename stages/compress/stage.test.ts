import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, SvcError, systemClock } from '../../engine/index.ts';
import { render } from '../wire/render.ts';
import type { ProxyRequest } from '../model/request.ts';
import { createCompressThread } from './worker/compress-thread.ts';
import type { CompressConfig } from './settings.ts';
import { COMPRESS_CONFIG, createBench, requestOf, textOf } from '../../fixtures/compress/stage.ts';

/** A listing that every mode except strict shortens. */
const grepOutput = Array.from(
  { length: 60 },
  (_, n) =>
    `src/components/navigation/sidebar/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');

const messages = [
  { role: 'user', content: 'Where are the items made?' },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'Grep', input: { pattern: 'useItem' } }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: grepOutput }] },
];

test('makes a tool result smaller and keeps every other byte', async () => {
  const bench = await createBench();
  const request = requestOf({ messages });
  const sent = await bench.send(request);
  const out = textOf(sent);
  assert.ok(out.length < textOf(request).length * 0.8);
  const [before, after] = [textOf(request), out].map(
    (text) => text.split(JSON.stringify(grepOutput).slice(0, 12))[0],
  );
  assert.ok(after!.startsWith(before!.slice(0, 100)));
  const parsed: unknown = JSON.parse(out);
  assert.equal((parsed as { messages: unknown[] }).messages.slice(0, 2), messages.slice(0, 2));
  assert.is(bench.originals.lastRequestId, 'r1');
  assert.is(bench.originals.ofRequest('r1')?.[0]?.before, grepOutput);
  await bench.close();
});

test('keeps the buffer of a request that is strict, off, protected or small', async () => {
  const bench = await createBench();
  const request = requestOf({ messages });
  const same = async (each: ProxyRequest, settings?: Partial<CompressConfig>) =>
    assert.is(render(await bench.send(each, settings)).bytes, each.original.body.wireBytes);
  await same(request, { enabled: false });
  await same(request, { thresholdTokens: 1_000_000 });
  await same(requestOf({ messages }, [], { untouchable: 'bypass' }));
  await same(requestOf({ messages, system: 'other' }), { mode: 'strict' });
  await same(requestOf({ messages, system: 'header' }, ['x-svc-mode', 'strict']));
  await bench.close();
});

test('refuses an unknown mode with a message that lists the valid ones', async () => {
  const bench = await createBench();
  const failed = await bench.send(requestOf({ messages }, ['x-svc-mode', 'agressive'])).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(failed, SvcError);
  assert.is((failed as SvcError).kind, 'bad_request');
  assert.match((failed as SvcError).message, "'agressive' is not a mode");
  assert.match((failed as SvcError).message, 'strict, hybrid or aggressive');
  await bench.close();
});

test('keeps the mode of a conversation until a request names another', async () => {
  const bench = await createBench();
  const first = textOf(await bench.send(requestOf({ messages }), { mode: 'hybrid' }));
  const later = textOf(
    await bench.send(requestOf({ messages }), { mode: 'aggressive', logBudgetTokens: 1 }),
  );
  assert.is(later, first);
  const request = requestOf({ messages }, ['x-svc-mode', 'strict']);
  assert.is(textOf(await bench.send(request)), textOf(request));
  assert.is(bench.notes.get('prefix_changes_because_of'), 'mode');
  assert.is(bench.warnings.length, 1);
  const after = requestOf({ messages });
  assert.is(textOf(await bench.send(after)), textOf(after));
  await bench.close();
});

test('gives the same bytes inline, in a thread, without a cache and after a restart', async () => {
  const long = Array.from({ length: 40 }, (_, n) => ({
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: grepOutput.replaceAll('item', `item${n}`),
      },
    ],
  }));
  const body = { messages: [...messages, ...long] };
  const outputs: string[] = [];
  for (const cacheEntries of [100, 0]) {
    const bench = await createBench(createCompressThread({ cacheEntries, clock: systemClock }));
    outputs.push(textOf(await bench.send(requestOf(body))));
    assert.is(bench.notes.get('where'), 'thread');
    outputs.push(textOf(await bench.send(requestOf(body))));
    await bench.close();
  }
  assert.is(new Set(outputs).size, 1);
});

test('sends a request unchanged when time runs out, and the same way in later turns', async () => {
  const clock = createManualClock();
  const bench = await createBench(createCompressThread({ cacheEntries: 10, clock }));
  const body = { messages: [...messages, { role: 'user', content: grepOutput.repeat(30) }] };
  // While the thread is starting, a timeout says nothing about the request.
  await bench.send(requestOf({ messages: body.messages.slice(2) }), { maxTimeMs: 0 });
  const pending = bench.send(requestOf(body));
  clock.advance(COMPRESS_CONFIG.maxTimeMs + 1);
  const sent = await pending;
  assert.is(render(sent).bytes, sent.original.body.wireBytes);
  assert.is(bench.notes.get('not_compressed_because'), 'timeout');
  // Even without a time limit, those blocks are still sent as before.
  const again = await bench.send(requestOf(body), { maxTimeMs: 0 });
  assert.is(textOf(again), textOf(sent));
  // A later block is compressed again.
  const more = {
    messages: [...body.messages, { role: 'assistant', content: 'ok' }, ...messages.slice(2)],
  };
  const grown = textOf(await bench.send(requestOf(more), { maxTimeMs: 0 }));
  assert.ok(grown.startsWith(textOf(sent).slice(0, -2)));
  assert.ok(grown.length < JSON.stringify(more).length);
  await bench.close();
});

test('leaves protected blocks byte-identical in every mode', async () => {
  const bench = await createBench();
  const noisy = `${'x '.repeat(2000)}\n`.repeat(4);
  const body = {
    system: [{ type: 'text', text: noisy }],
    tools: [{ name: 'Grep', description: noisy, input_schema: {} }],
    messages: [
      { role: 'user', content: 'short' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: noisy, signature: 's' },
          { type: 'text', text: noisy },
          { type: 'tool_use', id: 'a', name: 'Grep', input: { text: noisy } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            is_error: true,
            content: 'Error: no\n'.repeat(50),
          },
        ],
      },
    ],
  };
  for (const mode of ['hybrid', 'aggressive', 'strict'] as const) {
    const request = requestOf({ ...body, metadata: { mode } }, ['session-id', mode]);
    assert.is(textOf(await bench.send(request, { mode })), textOf(request), mode);
  }
  await bench.close();
});

test('applies learned rules to new conversations only', async () => {
  const bench = await createBench();
  const settings = { logBudgetTokens: 3500 };
  const before = textOf(await bench.send(requestOf({ messages }), settings));
  const sample = { mode: 'hybrid', kind: 'grep', toolName: 'Grep' };
  const [seen] = bench.learned.status().patterns;
  assert.is(seen?.samples, 1, 'the new block was learned from');
  assert.ok((seen?.saved ?? 0) > 0.2);
  bench.learned.reset();
  for (let n = 0; n < 20; n++) {
    bench.learned.learnBlocks([{ ...sample, tokensBefore: 900, tokensAfter: 899 }]);
  }
  bench.learned.apply();
  assert.is(textOf(await bench.send(requestOf({ messages }), settings)), before);
  const fresh = requestOf({ messages }, ['session-id', 'fresh']);
  const left = textOf(await bench.send(fresh));
  assert.is(left, textOf(fresh));
  assert.is(bench.notes.get('applied'), bench.learned.applied?.id);
  bench.learned.reset();
  assert.is(textOf(await bench.send(requestOf({ messages }, ['session-id', 'fresh']))), left);
  const later = requestOf({ messages }, ['session-id', 'later']);
  assert.is.not(textOf(await bench.send(later)), textOf(later));
  await bench.close();
});

test.run();
