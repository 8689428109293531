/** Tools that the client runs, and the choice of tools, for every target dialect. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, skipOf } from '../../../fixtures/dialect/translation.ts';

const TARGETS = ['messages', 'chat', 'generative'] as const;
type Json = Record<string, unknown>;

/** Returns the result as a target gets it: its texts, images and whether it failed. */
function result(to: (typeof TARGETS)[number], items: readonly object[]): string {
  const input = [{ role: 'user', content: 'go' }, ...items];
  const { body } = ask('responses', to, { model: 'm', input });
  const turns = (body['messages'] ?? body['contents']) as Json[];
  return JSON.stringify(turns.slice(2));
}

const shell = (outcome: object) => [
  { type: 'shell_call', call_id: 'c', action: { commands: ['ls'] } },
  {
    type: 'shell_call_output',
    call_id: 'c',
    output: [{ stdout: 'a.txt', stderr: 'warned', outcome }],
  },
];

const RESULTS: readonly [name: string, items: readonly object[], ...arrives: string[]][] = [
  ['an exit code', shell({ type: 'exit', exit_code: 3 }), 'a.txt', 'warned', 'Exit code: 3'],
  ['a time-out', shell({ type: 'timeout' }), 'a.txt', 'its time was up'],
  [
    'the output of a local shell, which names the item',
    [
      { type: 'local_shell_call', id: 'lsh_1', call_id: 'c', action: { command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'lsh_1', output: 'a.txt' },
    ],
    '"c"',
    'a.txt',
  ],
  [
    'a screenshot',
    [
      { type: 'computer_call', call_id: 'c', actions: [{ type: 'screenshot' }] },
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' },
      },
    ],
    'AAAA',
  ],
  [
    'a patch that failed without a word',
    [
      { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a' } },
      { type: 'apply_patch_call_output', call_id: 'c', status: 'failed' },
    ],
    'failed',
  ],
];

for (const [name, items, ...arrives] of RESULTS) {
  test(`a translated result contains ${name}`, () => {
    for (const to of TARGETS) {
      const text = result(to, items);
      for (const word of arrives) assert.ok(text.includes(word), `${to}: ${word} in ${text}`);
      assert.not.match(text, '"assistant"', `${to}: the result answers its call`);
      assert.not.match(text, '"role":"model"');
    }
  });
}

test('a successful command adds nothing to its output', () => {
  for (const to of TARGETS)
    assert.not.match(result(to, shell({ type: 'exit', exit_code: 0 })), 'Exit code');
});

test('several actions for a screen remain one call', () => {
  const items = [{ type: 'computer_call', call_id: 'c', actions: [{ type: 'wait' }] }];
  const input = [{ role: 'user', content: 'go' }, ...items];
  for (const to of TARGETS) {
    const sent = JSON.stringify(ask('responses', to, { model: 'm', input }).body);
    assert.match(sent, /actions.{0,9}wait|actions.{0,20}wait/);
  }
});

const fn = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } });
const SEARCH = { type: 'web_search' };
const allowedTools = (mode: string, ...tools: object[]) => ({ type: 'allowed_tools', mode, tools });

/** Returns the choice of tools as a target gets it. */
function choice(to: (typeof TARGETS)[number], tools: object[], tool_choice: unknown): string {
  const { body } = ask('responses', to, { model: 'm', input: 'go', tools, tool_choice });
  return JSON.stringify([body['tool_choice'] ?? body['toolConfig'], body['tools']]);
}

test('the provider’s own tools are removed from a choice, and no other tool may be called instead', () => {
  for (const to of TARGETS) {
    const both = choice(to, [fn('f'), fn('g'), SEARCH], allowedTools('auto', fn('f'), SEARCH));
    assert.not.match(both, '""', to);
    assert.match(both, '"f"');
    if (to === 'messages') assert.not.match(both, '"g"', 'only the tools that may be called');
    const none = choice(to, [fn('f'), SEARCH], allowedTools('auto', SEARCH));
    assert.match(none, /"none"|"NONE"/, to);
    const demand = { model: 'm', input: 'go', tools: [fn('f'), SEARCH] };
    const body = { ...demand, tool_choice: allowedTools('required', fn('f'), SEARCH) };
    assert.match(skipOf('responses', to, body), /demand|forced/);
  }
});

test('a choice among several tools narrows the tools themselves if the dialect has no such choice', () => {
  const tools = ['f', 'g', 'h'].map(fn);
  const any = choice('messages', tools, allowedTools('required', fn('f'), fn('h')));
  assert.is(JSON.parse(any)[0].type, 'any');
  assert.equal(
    JSON.parse(any)[1].map(({ name }: { name: string }) => name),
    ['f', 'h'],
  );
  const chatTools = ['f', 'g'].map((name) => ({ type: 'function', function: { name } }));
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'go' }],
    tools: chatTools,
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [chatTools[1]] } },
  };
  const sent = ask('chat', 'messages', body).body['tools'] as Json[];
  assert.equal(
    sent.map(({ name }) => name),
    ['g'],
  );
});

test('a tool in a namespace can also be chosen by its short name', () => {
  const tools = [{ type: 'namespace', name: 'sea', tools: [fn('tides')] }, fn('f')];
  for (const to of TARGETS) {
    const named = choice(to, tools, { type: 'function', name: 'tides' });
    assert.match(named, /sea.{1,9}tides/, to);
    assert.match(choice(to, tools, allowedTools('required', fn('tides'))), /sea.{1,9}tides/, to);
  }
});

test('a function without parameters is declared with an empty object', () => {
  for (const to of TARGETS)
    for (const parameters of [undefined, null, {}])
      assert.match(
        choice(to, [{ type: 'function', name: 'f', parameters }], 'auto'),
        '"type":"object"',
        to,
      );
});

test('instructions given as text or as one part are kept', () => {
  const contents = [{ role: 'user', parts: [{ text: 'go' }] }];
  const forms = ['be brief', { text: 'be brief' }, { parts: { text: 'be brief' } }];
  for (const to of ['messages', 'chat'] as const)
    for (const systemInstruction of forms)
      assert.match(
        JSON.stringify(ask('generative', to, { contents, systemInstruction }).body),
        'be brief',
      );
});

test.run();
