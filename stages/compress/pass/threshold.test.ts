import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBench, posted, requestOf, textOf } from '../../../fixtures/compress/stage.ts';
import { estimateTokens } from '../../model/tokens.ts';
import { thresholdForBlocks } from './threshold.ts';

const hits = (from: number): string =>
  Array.from(
    { length: 60 },
    (_, n) => `src/components/navigation/Sidebar.tsx:${n + from}:  const item${n} = useItem(${n});`,
  ).join('\n');

/** A conversation with a result each turn, none of which reaches the threshold by itself. */
const messages = (turns: number): readonly object[] => [
  { role: 'user', content: 'Where are the items made?' },
  ...Array.from({ length: turns }, (_, n) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${n}`, name: 'Grep', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: hits(n) }] },
  ]).flat(),
];

const tools = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => ({
    name: `tool${n}`,
    description: Array.from({ length: 400 }, (__, word) => `word${n * word}`).join(' '),
    input_schema: { type: 'object', properties: {} },
    ...more,
  }));

const LIMIT = { thresholdTokens: 4500 };

test('counts tool definitions towards the threshold', async () => {
  const bench = await createBench();
  const isWhole = async (body: object) => {
    const request = requestOf({ messages: messages(1), ...body });
    return textOf(await bench.send(request, LIMIT)) === textOf(request);
  };
  assert.is(await isWhole({ system: 'none' }), true);
  assert.is(await isWhole({ system: 'few', tools: tools(1) }), true);
  assert.is(await isWhole({ system: 'many', tools: tools(6) }), false);
  assert.is(await isWhole({ system: 'later', tools: tools(6, { defer_loading: true }) }), true);
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], functions: tools(6) };
  const call = { id: 'a', type: 'function', function: { name: 'Grep', arguments: '{}' } };
  body.messages.push(
    { role: 'assistant', content: null, tool_calls: [call] } as never,
    { role: 'tool', tool_call_id: 'a', content: hits(0) } as never,
  );
  const chat = posted('/v1/chat/completions', Buffer.from(JSON.stringify(body)));
  assert.ok(textOf(await bench.send(chat, LIMIT)).length < textOf(chat).length);
  await bench.close();
});

test('keeps the bytes of earlier turns when tools are added or removed', async () => {
  for (const [first, then] of [
    [1, 6],
    [6, 1],
  ] as const) {
    const bench = await createBench();
    const sentBlocks = async (turns: number, count: number): Promise<readonly unknown[]> => {
      const request = requestOf({ messages: messages(turns), tools: tools(count) });
      const out = textOf(await bench.send(request, LIMIT));
      return (JSON.parse(out) as { messages: unknown[] }).messages;
    };
    const before = await sentBlocks(1, first);
    assert.equal(
      (await sentBlocks(2, then)).slice(0, before.length),
      before,
      `${first}, then ${then}`,
    );
    await bench.close();
  }
});

test('subtracts the size of the tools, down to zero', () => {
  const [one] = tools(1);
  const size = estimateTokens(JSON.stringify(one));
  assert.is(thresholdForBlocks({ tools: [one] }, 4500), 4500 - size);
  assert.is(thresholdForBlocks({ tools: tools(50) }, 4500), 0);
  assert.is(thresholdForBlocks({ tools: 'none' }, 4500), 4500);
  assert.is(thresholdForBlocks(undefined, 4500), 4500);
});

test.run();
