/** Content that cannot be translated: skips with a reason, losses with a note, and errors. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  agentTurn,
  ask,
  make,
  PATHS,
  skipOf,
  user,
} from '../../../fixtures/dialect/translation.ts';
import { isTranslatable } from '../translatable.ts';
import { ownOptions, translateError, type TranslatableDialect } from './translate.ts';

test('content that a target cannot express is skipped with the reason', () => {
  const one = (more: object, content: unknown = 'hi'): object => ({
    model: 'm',
    max_tokens: 5,
    messages: [user(content)],
    ...more,
  });
  const item = (type: string): object => ({ model: 'm', input: [{ type, id: 'x' }] });
  const cases: [TranslatableDialect, TranslatableDialect, object, RegExp][] = [
    ['messages', 'chat', one({ tools: [{ type: 'web_search_20250305' }] }), /own tool web_search/],
    ['messages', 'chat', one({ mcp_servers: [{ url: 'u' }] }), /MCP/],
    ['messages', 'chat', one({ container: 'c' }), /container/],
    ['messages', 'chat', one({ inference_geo: 'eu' }), /where it may be processed/],
    ['messages', 'chat', one({}, [{ type: 'server_tool_use' }]), /server_tool_use/],
    ['messages', 'chat', one({}, [{ type: 'image', source: { type: 'file' } }]), /stored/],
    ['messages', 'responses', one({ stop_sequences: ['x'] }), /stop sequences/],
    ['messages', 'chat', one({ messages: [] }), /without a message/],
    ['chat', 'messages', one({ n: 2 }), /more than one choice/],
    ['chat', 'messages', one({ logprobs: true }), /log probabilities/],
    ['chat', 'messages', one({ functions: [] }), /old form/],
    ['chat', 'messages', one({ response_format: { type: 'json_object' } }), /JSON output/],
    ['chat', 'messages', one({}, [{ type: 'input_audio' }]), /input_audio/],
    ['chat', 'generative', one({ stop: ['1', '2', '3', '4', '5', '6'] }), /five stop/],
    ['responses', 'chat', { input: 'x', previous_response_id: 'r' }, /previous_response_id/],
    ['responses', 'chat', item('compaction'), /compaction/],
    ['responses', 'chat', item('item_reference'), /item_reference/],
    ['generative', 'chat', { contents: [], tools: [{ googleSearch: {} }] }, /googleSearch/],
    ['generative', 'chat', { contents: [], cachedContent: 'c' }, /cached/],
    [
      'generative',
      'chat',
      { contents: [{ parts: [{ inlineData: { mimeType: 'audio/wav', data: '' } }] }] },
      /audio/,
    ],
  ];
  for (const [from, to, body, reason] of cases) assert.match(skipOf(from, to, body), reason);
});

test('a limit of one tool call at a time does not prevent an answer', () => {
  const schema = { type: 'object', properties: {} };
  const bodies = {
    chat: {
      model: 'm',
      messages: [user('hi')],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      parallel_tool_calls: false,
    },
    responses: {
      model: 'm',
      input: 'hi',
      tools: [{ type: 'function', name: 'f', parameters: schema }],
      parallel_tool_calls: false,
    },
    messages: {
      model: 'm',
      max_tokens: 5,
      messages: [user('hi')],
      tools: [{ name: 'f', input_schema: schema }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
  } as const;
  for (const [from, body] of Object.entries(bodies) as [keyof typeof bodies, object][]) {
    const sent = ask(from, 'generative', body);
    assert.ok(JSON.stringify(sent.body).includes('"functionDeclarations"'), from);
    assert.match(sent.notes.join('; '), /one tool call at a time/, from);
  }
});

test('an incomplete call in the history does not stop the translation', () => {
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":' } };
  const body = {
    model: 'm',
    messages: [
      user('hi'),
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', tool_call_id: 'c', content: 'bad arguments' },
    ],
  };
  for (const to of ['messages', 'generative'] as const) {
    const answered = ask('chat', to, body);
    assert.match(JSON.stringify(answered.body), '{"input":"{\\"a\\":"}', to);
    assert.match(answered.notes.join(), 'not a JSON object');
    // The call has no result, and a provider would refuse it.
    const [question, call] = body.messages;
    const open = ask('chat', to, { ...body, messages: [question, call, user('go on')] });
    assert.not.match(JSON.stringify(open.body), '"f"', to);
    assert.match(open.notes.join(), 'never answered');
  }
  assert.match(JSON.stringify(ask('chat', 'responses', body).body), '"arguments":"{\\"a\\":"');
});

test('a tool name that the target refuses is replaced and restored in the answer', () => {
  const long = `mcp__${'x'.repeat(70)}`;
  const translated = ask('messages', 'chat', {
    model: 'm',
    max_tokens: 5,
    tools: [{ name: long, input_schema: {} }],
    tool_choice: { type: 'tool', name: long },
    messages: [
      user('hi'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: long, input: {} }] },
      user([{ type: 'tool_result', tool_use_id: 't', content: 'ok' }]),
    ],
  });
  const [tool] = translated.body.tools as { function: { name: string } }[];
  const sent = tool!.function.name;
  assert.match(sent, /^mcp__x{45}_[0-9a-f]{8}$/);
  assert.equal(translated.body.tool_choice, { type: 'function', function: { name: sent } });
  const called = { id: 'a', type: 'function', function: { name: sent, arguments: '{}' } };
  assert.match(JSON.stringify(translated.body.messages), new RegExp(sent));
  const answer = { choices: [{ message: { tool_calls: [called] } }] };
  const read = JSON.parse(
    make('chat', 'messages', translated.clientOptions).json(answer).toString(),
  ) as {
    content: { name: string }[];
  };
  assert.is(read.content[0]?.name, long);
});

test('the namespace of a tool is restored in the answer', () => {
  const tool = { type: 'function', name: 'read', parameters: {} };
  const { body, clientOptions } = ask('responses', 'messages', {
    model: 'm',
    input: [
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'c', namespace: 'files', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'ok' },
    ],
    tools: [{ type: 'namespace', name: 'files', tools: [tool] }],
  });
  const [sent] = body.tools as { name: string }[];
  assert.match(sent!.name, /^files_read_[0-9a-f]{8}$/);
  const content = [{ type: 'tool_use', id: 't', name: sent!.name, input: {} }];
  const answer = { type: 'message', content, stop_reason: 'tool_use', usage: {} };
  const read = JSON.parse(make('messages', 'responses', clientOptions).json(answer).toString()) as {
    output: { name: string; namespace: string }[];
  };
  assert.equal([read.output[0]?.namespace, read.output[0]?.name], ['files', 'read']);
});

test('the model is read from a generative path, with any characters in its name', () => {
  const named = (path: string): unknown =>
    ask(
      'generative',
      'chat',
      { contents: [{ parts: [{ text: 'hi' }] }] },
      { target: `/v1beta/models/${path}` },
    ).body.model;
  assert.is(named('q2.5:7b:generateContent'), 'q2.5:7b');
  assert.is(named('maker/q:latest:streamGenerateContent?alt=sse'), 'maker/q:latest');
  assert.is(named('a%2Fb%3Ac:generateContent'), 'a/b:c');
  assert.is(named('50%:generateContent'), '50%', 'an unencoded percent sign is not an error');
});

test('a forced tool that was left out is reported, not dropped in silence', () => {
  const f = { type: 'function', name: 'f', parameters: {} };
  const choice = { type: 'function', name: 'g' };
  const body = { model: 'm', input: 'hi', tools: [{ type: 'mcp' }, f], tool_choice: choice };
  assert.throws(
    () => ask('responses', 'chat', body, { providerTools: 'drop' }),
    /demand for a tool/,
  );
});

test('a request whose only tool is the provider’s own is refused, whatever other providers there are', () => {
  const body = { model: 'm', input: 'hi', tools: [{ type: 'web_search' }] };
  for (const providerTools of ['drop', 'skip'] as const)
    assert.throws(
      () => ask('responses', 'chat', body, { providerTools }),
      /own tool web_search, which is all/,
    );
});

test('tools run by the provider are left out if there are others, and tools run by the client are kept', () => {
  const fn = { name: 'f', description: 'F', input_schema: {} };
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const one = (...tools: object[]): object => ({
    model: 'm',
    max_tokens: 5,
    messages: [user('hi')],
    tools,
  });
  const { body, notes } = ask('messages', 'chat', one(search, fn));
  assert.is((body.tools as unknown[]).length, 1);
  assert.ok(notes.some((note) => note.includes('web_search_20250305')));
  const shell = { type: 'bash_20250124', name: 'bash' };
  assert.match(skipOf('messages', 'chat', one(shell, fn)), /own tool bash/);
  for (const type of ['computer_toolset_20260801', 'browser_toolset_20260801'])
    assert.match(skipOf('messages', 'chat', one({ type }, fn)), `own tool ${type}`);
  const declared = { functionDeclarations: [{ name: 'f' }] };
  const translated = {
    contents: [{ parts: [{ text: 'hi' }] }],
    tools: [{ googleSearch: {} }, declared],
  };
  assert.ok(
    ask('generative', 'chat', translated).notes.some((note) => note.includes('googleSearch')),
  );
  const forced = { ...one(search, fn), tool_choice: { type: 'tool', name: 'web_search' } };
  assert.match(skipOf('messages', 'chat', forced), /demand for a tool/);
});

test('the later of two tools with one name is offered, and a deferred tool at once', () => {
  const tool = (name: string, description: string): object => ({
    type: 'function',
    name,
    description,
    defer_loading: true,
    parameters: {},
  });
  const added = { type: 'additional_tools', role: 'developer', tools: [tool('f', 'new')] };
  const { body, notes } = ask('responses', 'messages', {
    model: 'm',
    input: [
      added,
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'c', namespace: 'f', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'ok' },
    ],
    tools: [tool('f', 'old'), tool('g', 'other'), { type: 'tool_search' }],
  });
  const tools = body.tools as { name: string; description: string }[];
  assert.equal(
    tools.map(({ name, description }) => [name, description]),
    [
      ['f', 'new'],
      ['g', 'other'],
    ],
  );
  assert.match(JSON.stringify(body.messages), /"tool_use","id":"c","name":"f"/);
  assert.match(
    notes.join(),
    /offered at once.*tool_search left out|tool_search left out.*offered at once/,
  );
});

test('a whole answer written as a stream keeps the form of its calls', () => {
  const tool = { type: 'custom', name: 'exec' };
  const namespace = { type: 'namespace', name: 'functions', tools: [tool] };
  const body = {
    model: 'm',
    stream: true,
    input: [{ type: 'additional_tools', tools: [namespace] }],
  };
  const clientOptions = ownOptions('responses', body, PATHS.responses, 'm');
  assert.equal(clientOptions.freeformTools, ['functions.exec']);
  const custom = { type: 'custom', custom: { name: 'patch' } };
  const chat = ownOptions('chat', { model: 'm', tools: [custom] }, PATHS.chat, 'm');
  assert.equal(chat.freeformTools, ['patch']);
});

test('reasoning is requested in the target’s own form, or noted as left out', () => {
  const body = { ...agentTurn, thinking: { type: 'enabled', budget_tokens: 6000 } };
  assert.is(ask('messages', 'chat', body, { model: 'gpt-5' }).body.reasoning_effort, 'medium');
  assert.is(ask('messages', 'chat', body, { model: 'gpt-4o' }).body.reasoning_effort, undefined);
  const old = ask('messages', 'generative', body, { model: 'gemini-2.5-pro' }).body;
  assert.equal(old.generationConfig, {
    maxOutputTokens: 32_000,
    thinkingConfig: { thinkingBudget: 6000 },
  });
  const translated = { model: 'x', reasoning_effort: 'high', messages: [user('hi')] };
  const newer = ask('chat', 'messages', translated, { model: 'claude-opus-4-8' }).body;
  const shown = { type: 'adaptive', display: 'summarized' };
  assert.equal([newer.thinking, newer.output_config], [shown, { effort: 'high' }]);
  const older = ask('chat', 'messages', translated, { model: 'claude-3-7-sonnet-latest' }).body;
  assert.equal(older.thinking, { type: 'enabled', budget_tokens: 6144 });
  assert.is(ask('chat', 'messages', translated, { model: 'kimi' }).body.thinking, undefined);
  const smallLimit = ask(
    'chat',
    'messages',
    { ...translated, max_tokens: 500 },
    { model: 'claude-opus-4-1' },
  );
  assert.equal([smallLimit.body.thinking, smallLimit.body.max_tokens], [undefined, 500]);
  assert.ok(smallLimit.notes.some((note) => note.includes('no room')));
});

test('errors keep their status and meaning', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const read = ({ status, body }: { status: number; body: Buffer }): unknown => [
    status,
    JSON.parse(body.toString()),
  ];
  assert.equal(read(translateError('messages', 'chat', 529, overloaded)), [
    503,
    { error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null } },
  ]);
  const quota = {
    error: { message: 'No quota', type: 'insufficient_quota', code: 'insufficient_quota' },
  };
  assert.equal(read(translateError('chat', 'messages', 429, quota)), [
    429,
    {
      type: 'error',
      error: { type: 'billing_error', message: 'No quota', code: 'insufficient_quota' },
    },
  ]);
  const exhausted = { error: { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED' } };
  assert.equal(read(translateError('generative', 'messages', 429, exhausted)), [
    429,
    { type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } },
  ]);
  const page = translateError('chat', 'generative', 502, undefined);
  assert.equal(read(page), [
    502,
    { error: { code: 502, message: 'The provider answered with status 502', status: 'INTERNAL' } },
  ]);
});

test('all dialects except opaque are translatable', () => {
  assert.is(isTranslatable('chat'), true);
  assert.is(isTranslatable('opaque'), false);
  assert.is(isTranslatable('toString'), false);
});

test.run();
