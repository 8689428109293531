/**
 * Blocks, items and parts of a single dialect: sent as text, omitted or refused, for every pair of
 * dialects.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, skipOf, user } from '../../../fixtures/dialect/translation.ts';
import type { TranslatableDialect } from './translate.ts';

const OTHERS: Record<TranslatableDialect, readonly TranslatableDialect[]> = {
  messages: ['chat', 'responses', 'generative'],
  chat: ['messages', 'generative'],
  responses: ['messages', 'chat', 'generative'],
  generative: ['messages', 'chat', 'responses'],
};

/** A text that must arrive, or null for content that is omitted entirely. */
type Expected = string | null;

const FN = { name: 'f', input_schema: { type: 'object' } };

/** Returns a messages conversation with `block` in a response, in a result, or in instructions. */
function messagesWith(place: 'assistant' | 'result' | 'system', block: object): object {
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const blocks = place === 'assistant' ? [block] : [];
  const result = {
    type: 'tool_result',
    tool_use_id: 'c',
    content: place === 'result' ? [block] : 'ok',
  };
  const more = place === 'system' ? [{ role: 'system', content: [block] }] : [];
  return {
    model: 'm',
    max_tokens: 5,
    tools: [FN],
    messages: [
      user('go'),
      { role: 'assistant', content: [...blocks, call] },
      user([result]),
      ...more,
    ],
  };
}

const BLOCKS: readonly [place: 'assistant' | 'result' | 'system', block: object, Expected][] = [
  ['result', { type: 'tool_reference', tool_name: 'WebFetch' }, 'Tool WebFetch can be called now.'],
  [
    'result',
    {
      type: 'search_result',
      title: 'Tides',
      source: 'https://t.example',
      content: [{ type: 'text', text: 'high' }],
    },
    'Tides\\nhttps://t.example\\nhigh',
  ],
  ['result', { type: 'image', source: { type: 'file', file_id: 'f1' } }, 'only its provider has'],
  ['result', { type: 'newest_block', payload: 1 }, 'a block of type newest_block stood here'],
  ['assistant', { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, null],
  [
    'assistant',
    {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: [
        {
          type: 'web_search_result',
          title: 'Moon',
          url: 'https://m.example',
          encrypted_content: 'x',
        },
      ],
    },
    'Moon\\nhttps://m.example',
  ],
  [
    'assistant',
    { type: 'mcp_tool_result', tool_use_id: 's', content: [{ type: 'text', text: 'from mcp' }] },
    'from mcp',
  ],
  [
    'assistant',
    {
      type: 'bash_code_execution_tool_result',
      tool_use_id: 's',
      content: { type: 'bash_code_execution_result', stdout: 'forty', stderr: '', return_code: 0 },
    },
    'forty',
  ],
  ['assistant', { type: 'compaction', content: 'So far: a summary.' }, 'So far: a summary.'],
  ['assistant', { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }, null],
  ['assistant', { type: 'newest_block', payload: 1 }, null],
  [
    'system',
    { type: 'tool_addition', tool: { type: 'tool_reference', name: 'f' } },
    'Tool f can be called now.',
  ],
  [
    'system',
    { type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } },
    'Tool f can no longer be called.',
  ],
  [
    'system',
    {
      type: 'tool_addition',
      tool: {
        type: 'tool_definition',
        definition: { name: 'read_file', description: 'Reads', input_schema: { type: 'object' } },
      },
    },
    'Tool read_file can be called now.',
  ],
];

test('blocks of Claude Code are translated to every other dialect', () => {
  for (const [place, block, arrives] of BLOCKS) {
    for (const to of OTHERS.messages) {
      const sent = ask('messages', to, messagesWith(place, block));
      const text = JSON.stringify(sent.body);
      const name = `${(block as { type: string }).type} in ${place} to ${to}`;
      if (arrives !== null) assert.ok(text.includes(arrives), `${name}: ${text}`);
      else assert.ok(sent.notes.length > 0, `${name}: noted`);
      assert.ok(text.includes('"f"'), `${name}: the call stays`);
      if (text.includes('read_file')) assert.match(text, /"description":"Reads"/, name);
    }
  }
});

test('results of the provider’s own tool are separated from the surrounding text', () => {
  const searchResult = { type: 'web_search_result', title: 'Moon', url: 'https://m.example' };
  const textBlock = (text: string) => ({ type: 'text', text });
  const turn = [
    textBlock('I search.'),
    { type: 'web_search_tool_result', tool_use_id: 's', content: [searchResult] },
    textBlock('It is '),
    textBlock('full.'),
  ];
  const messages = [user('go'), { role: 'assistant', content: turn }, user('and?')];
  const { body } = ask('messages', 'chat', { model: 'm', max_tokens: 5, messages });
  const sent = (body['messages'] as { content: string }[])[1]?.content;
  assert.is(sent, 'I search.\nMoon\nhttps://m.example\nIt is full.');

  const parts = [{ text: 'So:' }, { executableCode: { code: 'print(2)' } }, { text: 'It is 2.' }];
  const contents = [
    { role: 'user', parts: [{ text: 'go' }] },
    { role: 'model', parts },
    { role: 'user', parts: [{ text: 'and?' }] },
  ];
  const computed = ask('generative', 'chat', { contents });
  assert.is(
    (computed.body['messages'] as { content: string }[])[1]?.content,
    'So:\n```\nprint(2)\n```\nIt is 2.',
  );
});

test('a document is sent with its title, so that a question can refer to it', () => {
  const document = (title: string, data: string) => ({
    type: 'document',
    title,
    source: { type: 'text', media_type: 'text/plain', data },
  });
  const content = [document('Terms', 'Pay.'), document('Offer', 'Free.'), 'What do the terms say?'];
  const parts = content.map((part) =>
    typeof part === 'string' ? { type: 'text', text: part } : part,
  );
  for (const to of OTHERS.messages) {
    const sent = ask('messages', to, { model: 'm', max_tokens: 5, messages: [user(parts)] });
    assert.match(JSON.stringify(sent.body), /Terms.*Pay.*Offer.*Free/, to);
  }
});

test('user content that only one provider can read, and history stored at a provider, are refused', () => {
  const one = (more: object, content: unknown = 'hi'): object => ({
    model: 'm',
    max_tokens: 5,
    messages: [user(content)],
    ...more,
  });
  const cases: [TranslatableDialect, object, RegExp][] = [
    ['messages', one({}, [{ type: 'container_upload', file_id: 'f' }]), /container_upload/],
    ['messages', one({ thread: { type: 'continue', previous_message_id: 'm1' } }), /thread/],
    ['messages', one({ compaction: { summarize: true } }), /compaction/],
    ['chat', one({}, [{ type: 'newest_part' }]), /newest_part/],
    ['chat', one({}, [{ type: 'film', title: 'Tides', data: 'aGk=' }]), /film/],
    [
      'responses',
      {
        model: 'm',
        input: [
          { role: 'user', content: 'hi' },
          { type: 'compaction', id: 'x' },
        ],
      },
      /compaction/,
    ],
    [
      'responses',
      {
        model: 'm',
        input: [
          { role: 'user', content: 'hi' },
          { type: 'mcp_approval_request', id: 'a', name: 'x', arguments: '{}', server_label: 's' },
          { type: 'mcp_approval_response', approval_request_id: 'a', approve: true },
        ],
      },
      /mcp_approval_response/,
    ],
  ];
  for (const [from, body, reason] of cases)
    for (const to of OTHERS[from]) assert.match(skipOf(from, to, body), reason, `${from} to ${to}`);
});

const ITEMS: readonly [items: readonly object[], Expected][] = [
  [[{ type: 'web_search_call', id: 'w', status: 'completed', action: { query: 'q' } }], null],
  [[{ type: 'image_generation_call', id: 'i', result: 'aGk=' }], 'aGk='],
  [[{ type: 'ghost_snapshot', ghost_commit: {} }], null],
  [[{ type: 'newest_item', payload: 1 }], null],
  [[{ type: 'mcp_call', id: 'm', name: 'read', arguments: '{}', output: 'from mcp' }], 'from mcp'],
  [
    [
      { type: 'local_shell_call', call_id: 's', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', call_id: 's', output: 'a.txt' },
    ],
    'a.txt',
  ],
  [
    [
      { type: 'shell_call', call_id: 's', action: { commands: ['ls'] } },
      { type: 'shell_call_output', call_id: 's', output: [{ stdout: 'b.txt', stderr: '' }] },
    ],
    'b.txt',
  ],
  [
    [
      {
        type: 'code_interpreter_call',
        id: 'i',
        code: '1+1',
        outputs: [{ type: 'logs', logs: '2' }],
      },
    ],
    '1+1\\n2',
  ],
  [
    [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_image', file_id: 'f1' }],
      },
    ],
    'only its provider has',
  ],
];

test('items of Codex are translated to every other dialect', () => {
  for (const [items, arrives] of ITEMS) {
    for (const to of OTHERS.responses) {
      const input = [{ role: 'user', content: 'go' }, ...items, { role: 'user', content: 'on' }];
      const sent = ask('responses', to, { model: 'm', input });
      const name = `${JSON.stringify(items[0])} to ${to}`;
      const text = JSON.stringify(sent.body);
      if (arrives === null) assert.ok(sent.notes.length > 0, `${name}: noted`);
      else assert.ok(text.includes(arrives), `${name}: ${text}`);
    }
  }
});

const PARTS: readonly [part: object, Expected][] = [
  [{ executableCode: { language: 'PYTHON', code: 'print(40)' } }, 'print(40)'],
  [{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '40' } }, '40'],
  [{ toolCall: { toolType: 'GOOGLE_SEARCH', id: 't' } }, null],
  [{ newestPart: { payload: 1 } }, null],
  [{ thoughtSignature: 'c2ln' }, ''],
];

test('parts of Gemini clients are translated to every other dialect', () => {
  for (const [part, arrives] of PARTS) {
    for (const to of OTHERS.generative) {
      const contents = [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [part, { text: 'done' }] },
        { role: 'user', parts: [{ text: 'on' }] },
      ];
      const sent = ask('generative', to, { contents });
      const name = `${JSON.stringify(part)} to ${to}`;
      if (arrives === null) assert.ok(sent.notes.length > 0, `${name}: noted`);
      else assert.ok(JSON.stringify(sent.body).includes(arrives), name);
    }
  }
});

test('instructions keep their place, and each request begins with all of the previous one', () => {
  const say = (role: string, content: string): object => ({ role, content });
  const turns = [
    say('user', 'one'),
    say('system', 'first'),
    say('assistant', 'two'),
    say('user', 'three'),
    say('system', 'second'),
    say('assistant', 'four'),
    say('user', 'five'),
  ];
  for (const to of OTHERS.messages) {
    const bodies = [2, 5, 7].map((count) => {
      const body = { model: 'm', max_tokens: 5, system: 'top', messages: turns.slice(0, count) };
      return ask('messages', to, body).body;
    });
    const [last] = bodies.slice(-1);
    const order = ['top', 'one', 'first', 'two', 'three', 'second', 'four', 'five'];
    const text = JSON.stringify(last);
    const places = order.map((word) => text.indexOf(word));
    if (to !== 'generative')
      assert.equal(
        places,
        places.toSorted((a, b) => a - b),
        text,
      );
    for (const body of bodies)
      assert.not.match(JSON.stringify(body['systemInstruction'] ?? ''), 'first');
    const lists = bodies.map((body) => (body.messages ?? body.input ?? body.contents) as unknown[]);
    for (const [at, list] of lists.slice(1).entries())
      assert.equal(list.slice(0, lists[at]!.length), lists[at], `${to}, turn ${at}`);
  }
  const native = {
    model: 'm',
    messages: [{ role: 'user', content: 'one' }, say('system', 'first')],
  };
  const roles = (model: string): unknown[] =>
    (ask('chat', 'messages', native, { model }).body.messages as { role: string }[]).map(
      ({ role }) => role,
    );
  assert.equal(roles('claude-opus-4-8'), ['user', 'system']);
  assert.equal(roles('claude-sonnet-5'), ['user']);
  assert.equal(roles('kimi-k3'), ['user']);
});

test('equal call ids become unique, and each result stays with its call', () => {
  const call = (command: string): object => ({
    role: 'assistant',
    tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'f', arguments: command } }],
  });
  const result = (content: string): object => ({ role: 'tool', tool_call_id: 'call_0', content });
  const messages = [
    user('go'),
    call('{"a":1}'),
    result('A'),
    call('{"b":2}'),
    result('B'),
    user('on'),
  ];
  const { body } = ask('chat', 'messages', { model: 'm', messages });
  const blocks = (body.messages as { content: { id?: string; tool_use_id?: string }[] }[])
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .map(({ id, tool_use_id }) => id ?? tool_use_id)
    .filter((id) => id !== undefined);
  const [first, , second] = blocks;
  assert.equal(blocks, [first, first, second, second]);
  assert.is.not(first, second);
  assert.match(second!, /^[a-zA-Z0-9_-]+$/);
  const last = { role: 'assistant', content: 'I go on \n' };
  const sent = ask('chat', 'messages', { model: 'm', messages: [user('go'), last] }).body;
  assert.equal((sent.messages as object[]).at(-1), { role: 'assistant', content: 'I go on' });
});

test.run();
