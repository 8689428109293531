/**
 * A server that reuses the same call ids in every turn: its client gets a unique id for each call.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resultsIn } from '../../../fixtures/clients/model.ts';
import { withPair } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import type { ReplySource } from '../../../fixtures/upstream.ts';
import { asArray, asObject } from '../../../fixtures/upstream/reply.ts';

const STEPS = 3;
const TOOLS = [{ name: 'poll', input_schema: { type: 'object' } }];

const model: ReplySource = (dialect, body) => {
  const isDone = resultsIn(dialect, body) >= STEPS;
  if (isDone) return { deltas: ['done'], toolCalls: [], stop: 'end' };
  return { deltas: [], toolCalls: [{ id: '0', name: 'poll', input: {} }], stop: 'tool' };
};

const yaml = (url: string) =>
  `providers: { other: { kind: chat, base_url: "${url}", api_key: k } }\nrouting: { primary: other }\n`;

/** Returns the calls among the blocks of a document, or of a stream's events. */
function callsIn(text: string): readonly Record<string, unknown>[] {
  const lines = text.startsWith('{') ? [text] : text.split('\n').flatMap((line) => dataOf(line));
  return lines.flatMap((line) => {
    const { content, content_block } = asObject(JSON.parse(line));
    const blocks = [...asArray(content), content_block].map(asObject);
    return blocks.filter(({ type }) => type === 'tool_use');
  });
}

const dataOf = (line: string): string[] => (line.startsWith('data: ') ? [line.slice(6)] : []);

for (const stream of [false, true]) {
  test(`every call gets a unique id, ${stream ? 'streamed' : 'whole'}`, () =>
    withPair({ yaml, upstream: { replies: model } }, async (t) => {
      const messages: object[] = [{ role: 'user', content: 'go' }];
      const ids: unknown[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const body = json({ model: 'm', max_tokens: 99, tools: TOOLS }, { messages, stream });
        const { status, text } = await exchange(t.proxy.port, { body });
        assert.is(status, 200, text);
        const [call] = callsIn(text);
        ids.push(call?.['id']);
        messages.push({ role: 'assistant', content: [{ ...call, input: {} }] });
        const result = { type: 'tool_result', tool_use_id: call?.['id'], content: 'ok' };
        messages.push({ role: 'user', content: [result] });
      }
      assert.equal(ids, ['call_0', 'call_0_2', 'call_0_3']);
      const last = asObject(JSON.parse(t.spare.requests.at(-1)!.body.toString()));
      const sent = asArray(last['messages']).map(asObject);
      const answered = sent.flatMap(({ tool_call_id }) => tool_call_id ?? []);
      assert.equal(
        answered,
        ['call_0', 'call_0_2'],
        'each result has the id of its call there too',
      );
    }));
}

test.after(closeClients);
test.run();
