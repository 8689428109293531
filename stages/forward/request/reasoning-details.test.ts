/**
 * Reasoning sent as a list of blocks returns unchanged with its calls, for every client, whole and
 * streamed.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer } from '../../../fixtures/upstream.ts';
import { jsonAnswer, streamAnswer, toEvent } from '../../../fixtures/upstream/answer.ts';
import { payloads, withPair, withSpare } from '../../../fixtures/forward/pair.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

type Json = Record<string, unknown>;

const TEXT = { type: 'reasoning.text', index: 0, format: 'google-gemini-v1' };
const SEALED = { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1' };
/** As in a whole answer: two encrypted blocks with the same index are two blocks. */
const DETAILS = [
  { ...TEXT, text: 'First, then.', signature: 'c2ln' },
  { ...SEALED, id: 'call_1', data: 'AAAA' },
  { ...SEALED, id: 'call_2', data: 'BBBB' },
];
const CALLS = ['call_1', 'call_2'].map((id, index) => ({
  index,
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
}));

const DELTAS: readonly [Json, string | null][] = [
  [{ role: 'assistant', content: '', reasoning_details: [{ ...TEXT, text: 'First, ' }] }, null],
  [{ reasoning_details: [{ ...TEXT, text: 'then.' }] }, null],
  [{ reasoning_details: [{ ...TEXT, text: null, signature: 'c2ln' }, DETAILS[1]] }, null],
  [{ reasoning_details: [DETAILS[2]] }, null],
  [{ tool_calls: CALLS }, null],
  [{}, 'tool_calls'],
];

const thinking = answer(({ request }) => {
  const base = { id: 'c', created: 1, model: 'm' };
  const { stream } = JSON.parse(request.body.toString()) as { stream?: boolean };
  if (stream !== true) {
    const message = {
      role: 'assistant',
      content: null,
      reasoning_details: DETAILS,
      tool_calls: CALLS,
    };
    return jsonAnswer(200, {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    });
  }
  const chunks = DELTAS.map(([delta, finish_reason]) =>
    toEvent(
      {
        ...base,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason }],
      },
      undefined,
    ),
  );
  return streamAnswer([...chunks, Buffer.from('data: [DONE]\n\n')]);
});

interface Speaker {
  readonly path: (stream: boolean) => string;
  readonly body: (turns: readonly object[]) => object;
  readonly ask: object;
  /** The model's turn as its client has it, and the results. */
  readonly next: readonly object[];
}

const ids = CALLS.map(({ id }) => id);
const SPEAKERS: Readonly<Record<string, Speaker>> = {
  messages: {
    path: () => '/v1/messages',
    body: (messages) => ({ max_tokens: 9, tools: [{ name: 'f', input_schema: {} }], messages }),
    ask: { role: 'user', content: 'go' },
    next: [
      {
        role: 'assistant',
        content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
      },
      {
        role: 'user',
        content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })),
      },
    ],
  },
  responses: {
    path: () => '/v1/responses',
    body: (input) => ({ tools: [{ type: 'function', name: 'f' }], input }),
    ask: { role: 'user', content: 'go' },
    next: [
      ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })),
      ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: 'ok' })),
    ],
  },
  generative: {
    path: (stream) =>
      `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (contents) => ({ tools: [{ functionDeclarations: [{ name: 'f' }] }], contents }),
    ask: { role: 'user', parts: [{ text: 'go' }] },
    next: [
      { role: 'model', parts: ids.map((id) => ({ functionCall: { id, name: 'f', args: {} } })) },
      {
        role: 'user',
        parts: ids.map((id) => ({ functionResponse: { id, name: 'f', response: { a: 1 } } })),
      },
    ],
  },
};

for (const [name, speaker] of Object.entries(SPEAKERS)) {
  for (const stream of [false, true]) {
    test(`${name}: reasoning details return with their calls${stream ? ', streamed' : ''}`, () =>
      withPair({ yaml: withSpare('chat', 'providers:') }, async (t) => {
        t.upstream.script(undefined, '503');
        t.spare.script('/v1/responses', '404');
        t.spare.script('/v1/chat/completions', thinking);
        for (const turns of [[speaker.ask], [speaker.ask, ...speaker.next]]) {
          t.recover();
          const body = JSON.stringify({
            model: 'm',
            ...speaker.body(turns),
            ...(name !== 'generative' && { stream }),
          });
          const response = await exchange(t.proxy.port, { path: speaker.path(stream), body });
          assert.is(response.status, 200, response.text);
          if (stream) assert.ok(payloads(response.text).length > 0);
        }
        const sent = JSON.parse(t.spare.requests.at(-1)!.body.toString()) as { messages: Json[] };
        const [called] = sent.messages.filter(({ tool_calls }) => tool_calls !== undefined);
        assert.equal(called!['reasoning_details'], DETAILS);
      }));
  }
}

test.after(closeClients);
test.run();
