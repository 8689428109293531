/** Deferred tools cost nothing until a search has loaded them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../fixtures/server/exchange.ts';

const WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');
const tool = (name: string, more: object = {}) => ({
  name,
  description: WORDS,
  input_schema: { type: 'object', properties: {} },
  ...more,
});
const DEFERRED = { defer_loading: true };
const TOOLS = [tool('Search'), tool('mcp__ex__a', DEFERRED), tool('mcp__ex__b', DEFERRED)];
const FOUND = { type: 'tool_reference', tool_name: 'mcp__ex__a' };
const ASK = { role: 'user', content: 'Find it.' };

const search = (result: object, isServer = false) => [
  ASK,
  ...(isServer
    ? [{ role: 'assistant', content: [result] }]
    : [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Search', input: {} }] },
        { role: 'user', content: [result] },
      ]),
  ...(isServer ? [{ role: 'user', content: 'Go on.' }] : []),
];

/** Conversations, and the tools whose definitions each has in its prompt. */
const CASES: readonly (readonly [messages: readonly object[], names: readonly string[]])[] = [
  [[ASK], ['Search']],
  [search({ type: 'tool_result', tool_use_id: 't', content: [FOUND] }), ['Search', 'mcp__ex__a']],
  [
    search(
      {
        type: 'tool_search_tool_result',
        tool_use_id: 's',
        content: { type: 'tool_search_tool_search_result', tool_references: [FOUND] },
      },
      true,
    ),
    ['Search', 'mcp__ex__a'],
  ],
  [
    [
      ASK,
      {
        role: 'system',
        content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'mcp__ex__b' } }],
      },
    ],
    ['Search', 'mcp__ex__b'],
  ],
];

async function definitions(t: TestProxy): Promise<Record<string, number>> {
  const { text } = await exchange(t.proxy.port, { method: 'GET', path: '/stats' });
  const { by_tool: tools } = JSON.parse(text) as {
    readonly by_tool: Readonly<Record<string, { readonly definition_tokens: number }>>;
  };
  return Object.fromEntries(
    Object.entries(tools)
      .filter(([, one]) => one.definition_tokens > 0)
      .map(([name, one]) => [name, one.definition_tokens]),
  );
}

for (const [at, [messages, names]] of CASES.entries()) {
  test(`only definitions in the prompt are counted: ${names.join(', ')} (${at})`, () =>
    withProxy({}, async (t) => {
      const body = JSON.stringify({
        model: 'claude-opus-5-5',
        max_tokens: 9,
        tools: TOOLS,
        messages,
      });
      assert.is((await exchange(t.proxy.port, { path: '/v1/messages', body })).status, 200);
      await t.rows(1);
      assert.equal(Object.keys(await definitions(t)).toSorted(), names.toSorted());
    }));
}

test('a tool search in the responses dialect loads the tools that its output defines', () =>
  withProxy({}, async (t) => {
    const fn = (name: string, more: object = {}) => ({
      type: 'function',
      name,
      description: WORDS,
      parameters: { type: 'object' },
      ...more,
    });
    const body = JSON.stringify({
      model: 'gpt-5',
      store: false,
      tools: [fn('near'), fn('far', DEFERRED), fn('other', DEFERRED), { type: 'tool_search' }],
      input: [
        ASK,
        { type: 'tool_search_call', execution: 'client', call_id: 's', arguments: {} },
        { type: 'tool_search_output', execution: 'client', call_id: 's', tools: [fn('far')] },
      ],
    });
    assert.is((await exchange(t.proxy.port, { path: '/v1/responses', body })).status, 200);
    await t.rows(1);
    assert.equal(Object.keys(await definitions(t)).toSorted(), ['far', 'near']);
  }));

test.after(closeClients);
test.run();
