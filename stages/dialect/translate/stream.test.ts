/** Responses through a translator, byte for byte if the order of events matters. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  chatStream,
  chunk,
  datas,
  make,
  messagesStream,
  run,
  types,
} from '../../../fixtures/dialect/translation.ts';
import { createCallMarks } from '../call-marks.ts';
import type { TranslatableDialect } from './translate.ts';

test('chat → messages: blocks open with their type, no delta is empty, and the end follows the usage', () => {
  const wire = run(make('chat', 'messages'), chatStream);
  const block = (index: number, content_block: object): object => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (index: number, change: object): object => ({
    type: 'content_block_delta',
    index,
    delta: change,
  });
  const stop = (index: number): object => ({ type: 'content_block_stop', index });
  const [start, ...rest] = datas(wire);
  assert.equal(start, {
    type: 'message_start',
    message: {
      id: 'msg_chatcmpl-9',
      type: 'message',
      role: 'assistant',
      model: 'gpt',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  });
  assert.equal(rest, [
    { type: 'ping' },
    block(0, { type: 'text', text: '' }),
    delta(0, { type: 'text_delta', text: 'Hel' }),
    delta(0, { type: 'text_delta', text: 'lo' }),
    stop(0),
    block(1, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
    delta(1, { type: 'input_json_delta', partial_json: '{"x":' }),
    delta(1, { type: 'input_json_delta', partial_json: '1}' }),
    stop(1),
    block(2, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
    stop(2),
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 20 },
    },
    { type: 'message_stop' },
  ]);
});

test('messages → chat: the role comes first, calls are numbered separately, and cached tokens are in the prompt', () => {
  const wire = run(make('messages', 'chat'), messagesStream);
  assert.ok(wire.endsWith('data: [DONE]\n\n'));
  const all = datas(wire) as {
    choices: { delta: unknown; finish_reason: unknown }[];
    usage?: unknown;
  }[];
  const last = all.pop();
  assert.equal(
    all.map(({ choices: [choice] }) => [choice!.delta, choice!.finish_reason]),
    [
      [{ role: 'assistant', content: '' }, null],
      [{ content: 'Hi' }, null],
      [
        {
          tool_calls: [
            { index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '' } },
          ],
        },
        null,
      ],
      [{ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, null],
      [{}, 'tool_calls'],
    ],
  );
  assert.equal(last?.choices, []);
  assert.equal(last?.usage, {
    prompt_tokens: 18,
    completion_tokens: 7,
    total_tokens: 25,
    prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
  });
});

test('chat clients that did not ask for usage get no usage chunk', () => {
  const wire = run(make('messages', 'chat', { includeUsage: false }), messagesStream);
  assert.not.match(wire, /"usage"/);
});

test('a generative stream contains only data lines, as its clients do not accept comments', () => {
  const hidden = Array.from({ length: 40 }, (_, n) => `thought ${n}`);
  const thinking = hidden.map((text) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: text },
  }));
  const [start, block, ...rest] = messagesStream;
  const sources: readonly [TranslatableDialect, readonly unknown[]][] = [
    ['messages', [start, { type: 'ping' }, block, ...thinking, { type: 'ping' }, ...rest]],
    ['chat', [...hidden.map((text) => chunk({ reasoning_content: text })), ...chatStream]],
  ];
  for (const [from, events] of sources) {
    const frames = run(make(from, 'generative'), events).split('\n\n');
    assert.is(frames.pop(), '', 'ends with a whole frame');
    for (const frame of frames) assert.match(frame, /^data: \{.*\}$/, from);
    const lines = run(make(from, 'generative', { framing: 'array' }), events);
    assert.is(JSON.parse(lines).length, frames.length);
  }
});

test('generative → messages: ids are made, and marks are kept for the next request', () => {
  const marks = createCallMarks().of('');
  const parts = [
    { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'bWFyaw==' },
    { functionCall: { name: 'g' } },
  ];
  const wire = run(make('generative', 'messages', {}, marks), [
    { candidates: [{ content: { parts: [{ text: 'plan', thought: true }] } }] },
    { candidates: [{ content: { parts }, finishReason: 'STOP' }], responseId: 'x' },
  ]);
  assert.equal(types(wire), [
    'message_start',
    'ping',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  assert.match(wire, /"stop_reason":"tool_use"/);
  const ids = datas(wire).flatMap(
    ({ content_block }) => (content_block as { id?: string } | undefined)?.id ?? [],
  );
  assert.is(new Set(ids).size, 2);
  assert.is(marks.get('generative', { id: ids[0]!, name: 'f', input: '{"a":1}' }), 'bWFyaw==');
  assert.is(marks.get('generative', { id: ids[1]!, name: 'g', input: '' }), undefined);
});

test('generative arguments that arrive in pieces become one call', () => {
  const piece = (functionCall: object): object => ({
    candidates: [{ content: { parts: [{ functionCall }] } }],
  });
  const value = (jsonPath: string, stringValue: string, willContinue = false): object => ({
    willContinue: true,
    partialArgs: [{ jsonPath, stringValue, willContinue }],
  });
  const answer = run(make('generative', 'chat'), [
    piece({ name: 'cook', willContinue: true }),
    piece(value('$.steps[0].say', 'st', true)),
    piece(value('$.steps[0].say', 'ir')),
    piece(value('$.name', 'soup')),
    piece({}),
    { candidates: [{ finishReason: 'STOP' }] },
  ]);
  assert.match(answer, String.raw`{\"steps\":[{\"say\":\"stir\"}],\"name\":\"soup\"}`);
  assert.match(answer, /"finish_reason":"tool_calls"/);
});

test('a generative client that did not ask for events gets one array', () => {
  const wire = run(make('chat', 'generative', { framing: 'array' }), chatStream);
  const chunks = JSON.parse(wire) as { candidates: [{ finishReason?: string }] }[];
  assert.is(chunks.at(-1)?.candidates[0].finishReason, 'STOP');
  assert.is(chunks.length, 5);
});

test('a responses client gets free text for its free-text tool', () => {
  const one = make('messages', 'responses', { freeformTools: ['patch'] });
  const begin = { type: 'tool_use', id: 't', name: 'patch', input: {} };
  const json = (partial_json: string): object => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json },
  });
  const wire = run(one, [
    messagesStream[0],
    { type: 'content_block_start', index: 0, content_block: begin },
    json('{"input":"*** '),
    json('Begin"}'),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
    { type: 'message_stop' },
  ]);
  assert.equal(types(wire), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const last = datas(wire).at(-1) as { response: { output: { [key: string]: unknown }[] } };
  const [item] = last.response.output;
  assert.equal([item!.type, item!.call_id, item!.input], ['custom_tool_call', 't', '*** Begin']);
});

test('a whole answer can be sent as a short stream', () => {
  const answer = {
    id: 'chatcmpl-1',
    model: 'gpt',
    choices: [{ message: { content: 'Hi' }, finish_reason: 'length' }],
  };
  const wire = Buffer.concat(make('chat', 'messages').whole(answer)).toString();
  assert.equal(types(wire), [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  assert.match(wire, /"stop_reason":"max_tokens"/);
});

test('chat → messages: transcripts and refusals among the parts become text', () => {
  const wire = run(make('chat', 'messages'), [
    chunk({ audio: { transcript: 'spo' } }),
    chunk({ audio: { transcript: 'ken' } }),
    chunk({ content: [{ type: 'refusal', refusal: 'No.' }] }),
    chunk({}, 'stop'),
    '[DONE]',
  ]);
  const texts = datas(wire).map(({ delta }) => (delta as { text?: string } | undefined)?.text);
  assert.equal(
    texts.filter((text) => text !== undefined),
    ['spo', 'ken', 'No.'],
  );
});

test.run();
