/**
 * One conversation in each dialect: compression of a result depends on the earlier calls, not on
 * their notation.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBench, posted, textOf } from '../../fixtures/compress/stage.ts';

type Mode = 'hybrid' | 'aggressive';
type Json = Readonly<Record<string, unknown>>;

interface Step {
  readonly name: string;
  readonly input: Json;
  readonly result: string;
}

interface Writer {
  readonly target: string;
  readonly body: (steps: readonly Step[], ask: string) => Json;
}

const DECLARED = { type: 'object', properties: {} };

const WRITERS: Readonly<Record<string, Writer>> = {
  messages: {
    target: '/v1/messages',
    body: (steps, ask) => ({
      model: 'm',
      max_tokens: 10,
      messages: [
        { role: 'user', content: ask },
        ...steps.flatMap(({ name, input, result }, at) => [
          { role: 'assistant', content: [{ type: 'tool_use', id: `c${at}`, name, input }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: `c${at}`, content: result }],
          },
        ]),
      ],
    }),
  },
  chat: {
    target: '/v1/chat/completions',
    body: (steps, ask) => ({
      model: 'm',
      messages: [
        { role: 'user', content: ask },
        ...steps.flatMap(({ name, input, result }, at) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `c${at}`,
                type: 'function',
                function: { name, arguments: JSON.stringify(input) },
              },
            ],
          },
          { role: 'tool', tool_call_id: `c${at}`, content: result },
        ]),
      ],
    }),
  },
  responses: {
    target: '/v1/responses',
    body: (steps, ask) => ({
      model: 'm',
      input: [
        { role: 'user', content: ask },
        ...steps.flatMap(({ name, input, result }, at) => [
          { type: 'function_call', call_id: `c${at}`, name, arguments: JSON.stringify(input) },
          { type: 'function_call_output', call_id: `c${at}`, output: result },
        ]),
      ],
    }),
  },
  generative: {
    target: '/v1beta/models/m:generateContent',
    body: (steps, ask) => ({
      contents: [
        { role: 'user', parts: [{ text: ask }] },
        ...steps.flatMap(({ name, input, result }) => [
          { role: 'model', parts: [{ functionCall: { name, args: input } }] },
          {
            role: 'user',
            parts: [{ functionResponse: { name, response: { output: result } } }],
          },
        ]),
      ],
      tools: [{ functionDeclarations: [{ name: 'Read', parametersJsonSchema: DECLARED }] }],
    }),
  },
};

/** Returns the results as sent, in order. */
function resultsIn(body: string): readonly string[] {
  const found: string[] = [];
  JSON.parse(body, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const { type, role, content, output, stdout } = value as Json;
    if (type === 'tool_result' || role === 'tool') found.push(String(content));
    else if (typeof output === 'string') found.push(output);
    else if (typeof stdout === 'string') found.push(stdout);
    return value;
  });
  return found;
}

const source = (lines: number, of: string): string =>
  Array.from(
    { length: lines },
    (_, n) => `export const ${of}${n} = priceOf(${n}, { unit: '${of}', rate: ${n % 17} });`,
  ).join('\n');

const WRITTEN = source(60, 'bolt');
const LONG = source(900, 'nut');
const EDIT = { file_path: '/shop/nuts.ts', old_string: 'nut7 =', new_string: 'nutSeven =' };

/** Short enough to be protected as the result of an error. */
const COMMENTED = Array.from(
  { length: 60 },
  (_, n) => `// The price of bolt ${n}, as the shop has it.\nexport const bolt${n} = ${n};\n`,
).join('\n');

const CONVERSATIONS: Readonly<Record<string, readonly Step[]>> = {
  'a file that the model wrote itself, shown again': [
    { name: 'Write', input: { file_path: '/shop/bolts.ts', content: WRITTEN }, result: 'Written.' },
    { name: 'Bash', input: { command: 'cat /shop/bolts.ts' }, result: WRITTEN },
  ],
  'a long file after an edit of it': [
    { name: 'Edit', input: EDIT, result: 'The file /shop/nuts.ts has been updated.' },
    { name: 'Read', input: { file_path: '/shop/nuts.ts' }, result: LONG },
    { name: 'Bash', input: { command: 'ls /shop' }, result: 'nuts.ts' },
  ],
  'a long file that is edited after it': [
    { name: 'Read', input: { file_path: '/shop/nuts.ts' }, result: LONG },
    { name: 'Edit', input: EDIT, result: 'The file /shop/nuts.ts has been updated.' },
    { name: 'Bash', input: { command: 'cat /shop/nuts.ts' }, result: LONG },
  ],
};

const COMMAND = 'cat /shop/app.ts';

/**
 * Shell tools of the responses dialect, whose calls have no name: the item of call `id`, and its
 * output.
 */
const OWN_TOOLS: Readonly<Record<string, (id: string) => readonly Json[]>> = {
  'a local shell, whose output names the item': (id) => [
    {
      type: 'local_shell_call',
      id: `lsh_${id}`,
      call_id: id,
      action: { type: 'exec', command: ['bash', '-lc', COMMAND], env: {} },
    },
    { type: 'local_shell_call_output', id: `lsh_${id}`, output: COMMENTED },
  ],
  'a local shell, whose output names the call': (id) => [
    { type: 'local_shell_call', call_id: id, action: { type: 'exec', command: [COMMAND] } },
    { type: 'local_shell_call_output', call_id: id, output: COMMENTED },
  ],
  'a shell': (id) => [
    { type: 'shell_call', call_id: id, action: { commands: [COMMAND] } },
    {
      type: 'shell_call_output',
      call_id: id,
      output: [{ stdout: COMMENTED, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
  ],
};

const bench = await createBench();

async function sentResults(target: string, body: Json, mode: Mode): Promise<readonly string[]> {
  const bytes = Buffer.from(JSON.stringify(body));
  return resultsIn(textOf(await bench.send(posted(target, bytes), { mode })));
}

for (const mode of ['hybrid', 'aggressive'] as const) {
  for (const [name, steps] of Object.entries(CONVERSATIONS)) {
    test(`gives the same results in every dialect, ${mode}: ${name}`, async () => {
      const all = new Map<string, readonly string[]>();
      for (const [dialect, { target, body }] of Object.entries(WRITERS))
        all.set(dialect, await sentResults(target, body(steps, `${mode}: ${name}`), mode));
      const wanted = all.get('messages')!;
      assert.is(wanted.length, steps.length);
      for (const [dialect, results] of all) assert.equal(results, wanted, dialect);
    });
  }

  for (const [name, written] of Object.entries(OWN_TOOLS)) {
    test(`treats a built-in tool like a function tool, ${mode}: ${name}`, async () => {
      const ask = `${mode}: ${name}`;
      const { body, target } = WRITERS['responses']!;
      const step = { name: 'shell', input: { command: COMMAND }, result: COMMENTED };
      const wanted = await sentResults(target, body([step, step], `${ask}, by a function`), mode);
      if (mode === 'hybrid') assert.match(wanted[1]!, 'result 1 (app.ts)');
      const items = ['c1', 'c2'].flatMap(written);
      const input = [{ role: 'user', content: ask }, ...items];
      assert.equal(await sentResults(target, { model: 'm', input }, mode), wanted);
    });
  }
}

test('separates the outputs of several shell commands in one call', async () => {
  const runs = (text: string) => ({
    stdout: text,
    stderr: '',
    outcome: { type: 'exit', exit_code: 0 },
  });
  const input = [
    { role: 'user', content: 'Several.' },
    { type: 'shell_call', call_id: 'c1', action: { commands: ['pwd', COMMAND] } },
    { type: 'shell_call_output', call_id: 'c1', output: [runs('/shop'), runs(COMMENTED)] },
    ...OWN_TOOLS['a shell']!('c2'),
  ];
  const results = await sentResults('/v1/responses', { model: 'm', input }, 'hybrid');
  assert.is(results[0], '/shop');
  assert.match(results[2]!, 'part 2 of result 1 (app.ts)');
});

test('leaves the output of a failed shell command unchanged', async () => {
  const text = JSON.stringify(OWN_TOOLS['a shell']!('c1'));
  const failed = JSON.parse(text.replaceAll('"exit_code":0', '"exit_code":1')) as readonly Json[];
  const input = [{ role: 'user', content: 'Failed.' }, ...failed];
  assert.equal(await sentResults('/v1/responses', { model: 'm', input }, 'aggressive'), [
    COMMENTED,
  ]);
});

test('accepts shell output that refers to a call with unparsable arguments', async () => {
  const input = [
    { role: 'user', content: 'Odd.' },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: 'no JSON {' },
    { type: 'shell_call_output', call_id: 'c1', output: [{ stdout: '/shop', stderr: '' }] },
  ];
  assert.equal(await sentResults('/v1/responses', { model: 'm', input }, 'hybrid'), ['/shop']);
});

test('leaves the message of a failed patch unchanged', async () => {
  const patched = (status: string) => [
    { role: 'user', content: `It ${status}.` },
    { type: 'apply_patch_call', call_id: 'c1', operation: { type: 'update_file', path: 'a.ts' } },
    { type: 'apply_patch_call_output', call_id: 'c1', status, output: COMMENTED },
  ];
  for (const status of ['failed', 'completed']) {
    const input = patched(status);
    const [result] = await sentResults('/v1/responses', { model: 'm', input }, 'aggressive');
    assert.is(result === COMMENTED, status === 'failed', status);
  }
});

test.after(() => bench.close());
test.run();
