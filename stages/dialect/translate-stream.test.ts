/** Answers through a translator, byte for byte where the order of events matters. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chatStream, chunk, datas, make, messagesStream, run, types } from './translate-testing.ts';
import { createSignatureCache } from './translate.ts';

test('chat → messages: real first types, no empty pieces, the end after the usage', () => {
  const wire = run(make('chat', 'messages'), chatStream);
  const block = (index: number, content_block: object): object => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (index: number, said: object): object => ({
    type: 'content_block_delta',
    index,
    delta: said,
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

test('messages → chat: role first, calls counted apart, cached tokens inside the prompt', () => {
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

test('generative → messages: ids are made, marks are kept for the way back', () => {
  const signatures = createSignatureCache();
  const parts = [
    { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'bWFyaw==' },
    { functionCall: { name: 'g' } },
  ];
  const wire = run(make('generative', 'messages', {}, signatures), [
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
  assert.is(signatures.get(ids[0]!), 'bWFyaw==');
  assert.is(signatures.get(ids[1]!), undefined);
});

test('generative arguments that come in pieces arrive as one call', () => {
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

test('a generative client without events gets one array', () => {
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

test('a whole answer can go out as a short stream', () => {
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

test('servers that number every call 0 or say stop after calls are understood', () => {
  const call = (id: string): object =>
    chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] });
  const wire = run(make('chat', 'messages'), [call('a'), call('b'), chunk({}, 'stop'), '[DONE]']);
  assert.is(types(wire).filter((type) => type === 'content_block_start').length, 2);
  assert.match(wire, /"stop_reason":"tool_use"/);
});

interface Block {
  type: string;
  index: number;
  content_block?: { name?: string; id?: string };
  delta?: { partial_json?: string };
}

/** The calls that a messages client reads from `deltas` of a chat server, as `name(arguments)`. */
function callsFrom(deltas: readonly object[]): string[] {
  const wire = run(make('chat', 'messages'), [
    ...deltas.map((calls) => chunk({ tool_calls: calls })),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]);
  const calls: { name: string; id: string; input: string }[] = [];
  for (const event of datas(wire) as unknown as Block[]) {
    assert.is.not(event.type, 'error', wire);
    if (event.type === 'content_block_start') {
      calls[event.index] = {
        name: event.content_block?.name ?? '',
        id: event.content_block?.id ?? '',
        input: '',
      };
    }
    if (event.type === 'content_block_delta')
      calls[event.index]!.input += event.delta?.partial_json ?? '';
  }
  assert.is(new Set(calls.map(({ id }) => id)).size, calls.length, 'ids are distinct');
  return calls.map(({ name, input }) => `${name}(${input})`);
}

/** A piece of a call; what is undefined is not said. */
function part(index: unknown, id: string | undefined, name?: string, text?: unknown): object {
  return { index, id, type: 'function', function: { name, arguments: text } };
}

test('parallel calls stay apart, however a server numbers and names them', () => {
  const [a, b] = ['{"x":1}', '{"y":2}'];
  const cases: Record<string, readonly object[]> = {
    'one delta, neither number nor id': [
      [part(undefined, '', 'a', a), part(undefined, '', 'b', b)],
    ],
    'one delta, null for both': [[part(null, undefined, 'a', a), part(null, undefined, 'b', b)]],
    'one delta, all numbered 0': [[part(0, undefined, 'a', a), part(0, undefined, 'b', b)]],
    'all numbered 0 without ids': [[part(0, undefined, 'a', a)], [part(0, undefined, 'b', b)]],
    'no numbers and no ids': [
      [part(undefined, undefined, 'a', a)],
      [part(undefined, undefined, 'b', b)],
    ],
    'numbers from 1': [[part(1, 'i', 'a', a)], [part(2, 'j', 'b', b)]],
    'numbers as strings': [
      [part('0', 'i', 'a', ''), part('1', 'j', 'b', '')],
      [part('0', undefined, undefined, a)],
      [part('1', undefined, undefined, b)],
    ],
    'arguments as objects': [[part(0, '', 'a', { x: 1 }), part(0, '', 'b', { y: 2 })]],
    'the name in every piece': [
      [part(0, undefined, 'a', '')],
      [part(0, undefined, 'a', '{"x"')],
      [part(0, undefined, 'a', ':1}')],
      [part(0, undefined, 'a', '')],
      [part(0, undefined, 'b', '{"y"')],
      [part(0, undefined, 'b', ':2}')],
    ],
    'the id in every piece': [
      [part(undefined, 'i', 'a', '{"x"'), part(undefined, 'j', 'b', '{"y"')],
      [part(undefined, 'j', undefined, ':2}'), part(undefined, 'i', undefined, ':1}')],
    ],
    'id and name in every piece, in turn': [
      [part(0, 'i', 'a', '')],
      [part(1, 'j', 'b', '')],
      [part(0, 'i', 'a', '{"x":1')],
      [part(1, 'j', 'b', b)],
      [part(0, 'i', 'a', '}')],
    ],
    'another id in every piece': [
      [part(0, 'i1', 'a', '{"x"')],
      [part(0, 'i2', 'a', ':1}')],
      [part(0, 'i3', 'b', '{"y"')],
      [part(0, 'i4', undefined, ':2}')],
    ],
    'the same id for all': [[part(0, 'i', 'a', a)], [part(1, 'i', 'b', b)]],
    'lists without numbers': [
      [part(undefined, undefined, 'a', ''), part(undefined, undefined, 'b', '')],
      [
        part(undefined, undefined, undefined, '{"x"'),
        part(undefined, undefined, undefined, '{"y"'),
      ],
      [part(undefined, undefined, undefined, ':1}'), part(undefined, undefined, undefined, ':2}')],
    ],
  };
  for (const [name, deltas] of Object.entries(cases)) {
    assert.equal(callsFrom(deltas), [`a(${a})`, `b(${b})`], name);
  }
});

test('several calls of one name are several calls', () => {
  const cases: Record<string, readonly object[]> = {
    'one delta': [[part(undefined, '', 'a', '{"x":1}'), part(undefined, '', 'a', '{"x":2}')]],
    'numbered 0': [[part(0, undefined, 'a', '{"x":1}')], [part(0, undefined, 'a', '{"x":2}')]],
    'the arguments later': [
      [part(0, undefined, 'a', '')],
      [part(0, undefined, undefined, '{"x":1}')],
      [part(0, undefined, 'a', '')],
      [part(0, undefined, undefined, '{"x"')],
      [part(0, undefined, undefined, ':2}')],
    ],
    'the same id': [[part(0, 'i', 'a', '{"x":1}')], [part(1, 'i', 'a', '{"x":2}')]],
  };
  for (const [name, deltas] of Object.entries(cases)) {
    assert.equal(callsFrom(deltas), ['a({"x":1})', 'a({"x":2})'], name);
  }
  assert.equal(callsFrom([[part(0, '', 'a', '')], [part(0, '', 'b', '')]]), ['a()', 'b()']);
});

test('whole answers: calls without ids, or all with the same one, get their own', () => {
  for (const id of [undefined, '', 'i']) {
    const calls = ['a', 'b'].map((name) => part(undefined, id, name, '{}'));
    const message = { role: 'assistant', content: null, tool_calls: calls };
    const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const answer = make('chat', 'messages').json(body).toString();
    const { content } = JSON.parse(answer) as { content: { id: string }[] };
    assert.is(new Set(content.map((block) => block.id)).size, 2, String(id));
  }
});

test.run();
