/** Translated requests through the public function: what arrives, and in which form. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  agentTurn,
  ask,
  user,
  type TranslatedRequest,
} from '../../../fixtures/dialect/translation.ts';
import { createCallMarks } from '../call-marks.ts';
import { answerType } from './translate.ts';

test('messages → chat: results are split, instructions keep their place, and provider-specific fields are left out', () => {
  const { body, path, headers, clientOptions, notes } = ask('messages', 'chat', agentTurn, {
    model: 'gpt-4o',
  });
  assert.is(path, '/v1/chat/completions');
  assert.equal(headers, ['content-type', 'application/json']);
  assert.is(answerType(clientOptions, true), 'text/event-stream');
  assert.is(answerType(clientOptions, false), 'application/json');
  assert.equal(body.messages, [
    { role: 'system', content: 'You write code.' },
    { role: 'user', content: 'What is in here?' },
    { role: 'system', content: 'Be brief from now on.' },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        {
          id: 'toolu_1',
          type: 'function',
          function: { name: 'Bash', arguments: '{"command":"ls"}' },
        },
        { id: 'toolu_2', type: 'function', function: { name: 'Read', arguments: '{"path":"a"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'a\nb' },
    { role: 'tool', tool_call_id: 'toolu_2', content: 'no such file' },
    { role: 'user', content: 'And now?' },
  ]);
  assert.is(body.model, 'gpt-4o');
  assert.is(body.max_tokens, 32_000);
  assert.equal(body.stream_options, { include_usage: true });
  assert.equal(Object.keys(body).toSorted(), [
    'max_tokens',
    'messages',
    'model',
    'stream',
    'stream_options',
    'tools',
  ]);
  assert.is(clientOptions.model, 'claude-opus-4-8');
  assert.is(clientOptions.stream, true);
  for (const word of ['metadata', 'context_management', 'newest_field', 'billing', 'thinking']) {
    assert.ok(
      notes.some((note) => note.includes(word)),
      `${word} in ${notes.join('; ')}`,
    );
  }
});

test('messages → generative: instructions keep their place, results have names, and calls are marked for models that require it', () => {
  const marks = createCallMarks().of('');
  marks.put('generative', { id: 'toolu_1', name: 'Bash', input: '{"command":"ls"}' }, 'bWFyaw==');
  const marked = ask('messages', 'generative', agentTurn, { model: 'gemini-3-pro', marks });
  assert.is(marked.path, '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse');
  assert.equal(marked.body.systemInstruction, {
    parts: [{ text: 'You write code.' }],
  });
  const [first, model, results] = marked.body.contents as [unknown, unknown, unknown];
  assert.equal(first, {
    role: 'user',
    parts: [{ text: 'What is in here?' }, { text: '<system>\nBe brief from now on.\n</system>' }],
  });
  assert.equal(model, {
    role: 'model',
    parts: [
      { text: 'I look.' },
      {
        functionCall: { id: 'toolu_1', name: 'Bash', args: { command: 'ls' } },
        thoughtSignature: 'bWFyaw==',
      },
      { functionCall: { id: 'toolu_2', name: 'Read', args: { path: 'a' } } },
    ],
  });
  assert.equal(results, {
    role: 'user',
    parts: [
      { functionResponse: { id: 'toolu_1', name: 'Bash', response: { output: 'a\nb' } } },
      { functionResponse: { id: 'toolu_2', name: 'Read', response: { error: 'no such file' } } },
      { text: 'And now?' },
    ],
  });
  const firstMark = (sent: TranslatedRequest): unknown =>
    (sent.body.contents as { parts: { thoughtSignature?: string }[] }[])[1]?.parts[1]
      ?.thoughtSignature;
  const foreign = ask('messages', 'generative', agentTurn, { model: 'gemini-3-pro' });
  assert.is(firstMark(foreign), 'skip_thought_signature_validator');
  const older = ask('messages', 'generative', agentTurn, { model: 'gemini-2.5-pro' });
  assert.is(firstMark(older), undefined);
});

test('chat → messages: neighbouring tool messages become one turn, and limits are filled in', () => {
  const { body, headers, notes } = ask('chat', 'messages', {
    model: 'claude-sonnet-4-5',
    temperature: 1.5,
    top_p: 0.9,
    user: 'me',
    tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
    tool_choice: 'required',
    parallel_tool_calls: false,
    messages: [
      { role: 'developer', content: 'Be kind.' },
      user([
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ]),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'functions.f:0', type: 'function', function: { name: 'f', arguments: '' } },
          { id: 'b', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.f:0', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      user('Go on'),
    ],
  });
  const messages = body.messages as { role: string; content: { [key: string]: unknown }[] }[];
  assert.equal(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  );
  assert.equal(messages[0]?.content, [
    { type: 'text', text: 'Look' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
  ]);
  const [first, second] = messages[1]!.content;
  assert.match(String(first!.id), /^call_[0-9a-f]{24}$/);
  assert.equal([first!.input, second!.input], [{}, { a: 1 }]);
  assert.equal(messages[2]?.content, [
    { type: 'tool_result', tool_use_id: first!.id, content: 'one' },
    { type: 'tool_result', tool_use_id: 'b', content: 'two' },
    { type: 'text', text: 'Go on' },
  ]);
  assert.equal(headers.slice(2), ['anthropic-version', '2023-06-01']);
  assert.is(body.system, 'Be kind.');
  assert.is(body.max_tokens, 32_000);
  assert.is(body.temperature, 1);
  assert.is(body.top_p, undefined);
  assert.equal(body.tool_choice, { type: 'any', disable_parallel_tool_use: true });
  assert.is(notes.length, 3, notes.join('; '));
});

test('generative → messages: snake case, calls without ids and OpenAPI schemas are read', () => {
  const { body, clientOptions } = ask(
    'generative',
    'messages',
    {
      system_instruction: { parts: [{ text: 'Short.' }] },
      contents: [
        { parts: [{ text: 'Weather?' }] },
        { role: 'model', parts: [{ function_call: { name: 'w', args: { in: 'Rome' } } }] },
        { role: 'user', parts: [{ function_response: { name: 'w', response: { t: 20 } } }] },
      ],
      tools: [
        {
          function_declarations: [
            {
              name: 'w',
              parameters: {
                type: 'OBJECT',
                properties: { in: { type: 'STRING', nullable: true } },
                propertyOrdering: ['in'],
              },
            },
          ],
        },
      ],
      generation_config: { max_output_tokens: 50, stop_sequences: ['END'] },
    },
    { target: '/v1beta/models/gemini-2.5-flash:streamGenerateContent', model: 'claude-opus-4-8' },
  );
  assert.equal(body, {
    model: 'claude-opus-4-8',
    max_tokens: 50,
    system: 'Short.',
    messages: [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1_0', name: 'w', input: { in: 'Rome' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1_0', content: '{"t":20}' }],
      },
    ],
    tools: [
      {
        name: 'w',
        input_schema: { type: 'object', properties: { in: { type: ['string', 'null'] } } },
      },
    ],
    stop_sequences: ['END'],
    stream: true,
  });
  assert.is(clientOptions.framing, 'array');
  assert.is(answerType(clientOptions, true), 'application/json');
  assert.is(clientOptions.model, 'gemini-2.5-flash');
});

test('responses → messages: instructions and free-text tools are translated, and encrypted reasoning is left out', () => {
  const { body, clientOptions, notes } = ask('responses', 'messages', {
    model: 'gpt-5.2-codex',
    instructions: 'You are an agent.',
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'k',
    reasoning: { effort: 'medium', summary: 'auto' },
    tools: [
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Edits files',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
    ],
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'zzz' },
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done' },
    ],
  });
  assert.equal(body.system, [
    { type: 'text', text: 'You are an agent.' },
    { type: 'text', text: 'Rules' },
  ]);
  assert.equal(body.messages, [
    { role: 'user', content: 'Fix it' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'apply_patch', input: { input: '*** Begin' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Done' }] },
  ]);
  const [tool] = body.tools as { description: string }[];
  assert.match(tool!.description, /Edits files[^]*start: "x"/);
  assert.equal(clientOptions.freeformTools, ['apply_patch']);
  assert.ok(notes.some((note) => note.includes('grammar')));
});

test('images in a tool result follow as user content if results can only contain text', () => {
  const content = [
    { type: 'text', text: 'a shot' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
  ];
  const { body } = ask('messages', 'chat', {
    model: 'm',
    max_tokens: 9,
    messages: [
      user('shoot'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'shot', input: {} }] },
      user([{ type: 'tool_result', tool_use_id: 't1', content }]),
    ],
  });
  assert.equal((body.messages as unknown[]).slice(2), [
    { role: 'tool', tool_call_id: 't1', content: 'a shot' },
    user([
      { type: 'text', text: 'Attached to the result of tool call t1:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ]),
  ]);
});

test.run();
