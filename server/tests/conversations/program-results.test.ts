/**
 * Results of programmatic tool calls (`caller`), read by the model's code at the provider: code
 * parses them, so they are not rewritten, and since the model never sees them, no reference points
 * to them.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

const ROWS = JSON.stringify(
  Array.from({ length: 300 }, (_, id) => ({
    id,
    name: `user ${id}`,
    region: 'west',
    paid: id % 9 > 0,
  })),
);
const LOG = Array.from(
  { length: 400 },
  (_, i) => `2026-11-28T10:00:00Z INFO worker ${i % 7} handled request ${i} in ${(i * 3) % 50} ms`,
).join('\n');

type Dialect = 'messages' | 'responses';

/**
 * Returns a conversation with a call by `caller`, its result, and an ordinary call with the same
 * output.
 */
function conversation(dialect: Dialect, text: string, caller: object): object {
  const by = { caller };
  // Each case is its own conversation: a running one would repeat what it sent before.
  const question = JSON.stringify([caller, text.slice(0, 9)]);
  if (dialect === 'responses') {
    const call = (call_id: string, more: object) => ({
      type: 'function_call',
      call_id,
      name: 'query',
      arguments: '{"sql":"select"}',
      ...more,
    });
    const output = (call_id: string, more: object = {}) => ({
      type: 'function_call_output',
      call_id,
      output: text,
      ...more,
    });
    return {
      model: 'gpt-5.6',
      input: [
        { role: 'user', content: question },
        { type: 'program', id: 'p1', call_id: 'p1', code: 'query()' },
        call('c1', by),
        output('c1', by),
        call('c2', {}),
        output('c2'),
      ],
    };
  }
  const call = (id: string, more: object) => ({
    type: 'tool_use',
    id,
    name: 'query',
    input: { sql: 'select' },
    ...more,
  });
  const result = (tool_use_id: string, content: unknown) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id, content }],
  });
  const program = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: {} };
  return {
    model: 'claude-opus-5',
    max_tokens: 100,
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: [program, call('c1', by)] },
      result('c1', [{ type: 'text', text }]),
      { role: 'assistant', content: [call('c2', {})] },
      result('c2', text),
    ],
  };
}

const CALLERS = {
  messages: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' },
  responses: { type: 'program', caller_id: 'p1' },
} as const;

/** Returns the texts of both results as sent. */
function resultsIn(body: string): readonly string[] {
  const texts: string[] = [];
  JSON.parse(body, (name, value: unknown) => {
    const { type, content, output } = (value ?? {}) as Record<string, unknown>;
    if (type === 'function_call_output') texts.push(String(output));
    if (type !== 'tool_result') return value;
    texts.push(Array.isArray(content) ? (content[0] as { text: string }).text : String(content));
    return value;
  });
  return texts;
}

for (const dialect of ['messages', 'responses'] as const) {
  for (const mode of ['hybrid', 'aggressive']) {
    test(`${dialect}, ${mode}: results that a program reads are sent unchanged`, async () => {
      const yaml = `compression: { threshold_tokens: 0, mode: ${mode} }\n`;
      const t = await startTestProxy({ yaml });
      try {
        for (const text of [ROWS, LOG]) {
          const path = dialect === 'messages' ? '/v1/messages' : '/v1/responses';
          const sentResults = async (caller: object): Promise<readonly string[]> => {
            const body = JSON.stringify(conversation(dialect, text, caller));
            const response = await exchange(t.proxy.port, { path, body });
            assert.is(response.status, 200, response.text);
            return resultsIn(t.upstream.requests.at(-1)!.body.toString());
          };
          const [ofProgram, ordinary] = await sentResults(CALLERS[dialect]);
          assert.is(ofProgram, text);
          // The ordinary result is the first the model sees, so it is compressed on its own.
          const [first] = await sentResults({ type: 'direct' });
          assert.ok(first!.length < text.length, 'a direct call is an ordinary one');
          assert.is(ordinary!.length, first!.length);
        }
      } finally {
        await t.close();
      }
    });
  }
}

for (const dialect of ['messages', 'responses'] as const) {
  test(`${dialect}: nothing refers to the input that a program gave to a tool`, async () => {
    const t = await startTestProxy({ yaml: 'compression: { threshold_tokens: 0 }\n' });
    try {
      const path = dialect === 'messages' ? '/v1/messages' : '/v1/responses';
      for (const caller of [CALLERS[dialect], { type: 'direct' }]) {
        const body = JSON.stringify(conversation(dialect, LOG, caller))
          .replace('{"sql":"select"}', () => JSON.stringify({ file: 'a.log', log: LOG }))
          .replace(String.raw`{\"sql\":\"select\"}`, () =>
            JSON.stringify(JSON.stringify({ file: 'a.log', log: LOG })).slice(1, -1),
          );
        const response = await exchange(t.proxy.port, { path, body });
        assert.is(response.status, 200, response.text);
        const ordinary = resultsIn(t.upstream.requests.at(-1)!.body.toString())[1]!;
        // The model can refer back to a call it wrote itself.
        if (caller.type === 'direct') assert.match(ordinary, /of call \d/);
        else assert.not.match(ordinary, ' of call ');
      }
    } finally {
      await t.close();
    }
  });
}

test.after(closeClients);
test.run();
