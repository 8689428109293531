/** Long results of which only parts are sent, checked in the bytes that the provider receives. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy, withProxy } from '../../../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';

interface Part {
  readonly type: string;
  readonly content?: string;
}
interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
}

/** Returns some 13,000 tokens of TypeScript; `tag` makes each source unique. */
function source(tag: string): string {
  const functions = Array.from({ length: 150 }, (_, n) => [
    `/** Works on ${tag} in its step ${n}. */`,
    `export function ${tag}Step${n}(input: string, count = ${n}): string {`,
    `  const found = input.indexOf('${tag}-${n * 7919}');`,
    `  if (found < 0) throw new Error(\`no ${tag} of ${n * 31} in \${input}\`);`,
    `  const rest = input.slice(found + ${n}).padEnd(count * ${n + 3}, '${tag[0]}');`,
    `  return rest.split('${n}').map((one) => one.trim() + count).join('/${n % 17}');`,
    '}',
    '',
  ]);
  return [`import { readFile } from 'node:fs';`, '', ...functions.flat()].join('\n');
}

/** Numbers the lines as Claude Code shows a file. */
const numbered = (text: string): string =>
  text
    .split('\n')
    .map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
    .join('\n');

interface Step {
  readonly name?: string;
  readonly input?: object;
  readonly text: string;
  readonly error?: true;
  /** The user's question before this step. */
  readonly ask?: string;
}

const read = (file: string, tag: string, more: object = {}): Step => ({
  input: { file_path: `/w/${file}`, ...more },
  text: numbered(source(tag)),
});
const shell = (command: string, text: string): Step => ({ name: 'Bash', input: { command }, text });
const edit = (file: string): Step => ({
  name: 'Edit',
  input: { file_path: `/w/${file}`, old_string: 'x', new_string: 'y' },
  text: 'ok',
});

const schema = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'number' }])),
});
const TOOLS = [
  { name: 'Read', input_schema: schema('file_path', 'offset', 'limit') },
  { name: 'Bash', input_schema: schema('command') },
  { name: 'Edit', input_schema: schema('file_path') },
  { name: 'Task', input_schema: schema('prompt') },
  { name: 'read_whole', input_schema: schema('path') },
  { name: 'read_file', input_schema: schema('path', 'start_line', 'end_line') },
];

function body(steps: readonly Step[], more: object = {}): object {
  const messages: Message[] = [];
  steps.forEach(({ name = 'Read', input, text, error, ask }, index) => {
    const id = `t${index}`;
    const question = ask ?? (index === 0 ? 'Mend alphaStep77, please.' : undefined);
    if (question !== undefined) messages.push({ role: 'user', content: question });
    const call = { type: 'tool_use', id, name, input };
    const result = { type: 'tool_result', tool_use_id: id, content: text };
    messages.push(
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ ...result, ...(error === true && { is_error: true }) }] },
    );
  });
  return { model: 'claude-sonnet-4-5', max_tokens: 9, tools: TOOLS, messages, ...more };
}

/** Sends the request; returns the contents of the results that the provider received. */
async function send(t: TestProxy, request: object): Promise<readonly string[]> {
  const before = t.upstream.requests.length;
  const response = await exchange(t.proxy.port, {
    path: '/v1/messages',
    body: JSON.stringify(request),
  });
  assert.is(response.status, 200, response.text);
  const sent = JSON.parse(t.upstream.requests[before]!.bodyBytes.toString()) as {
    messages: readonly Message[];
  };
  return sent.messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => part.content ?? []),
  );
}

const isInParts = (result: string): boolean => result.includes('; to see them: ');

/**
 * Says for each result whether it is sent in parts, when the whole conversation is sent at once.
 */
async function inParts(
  steps: readonly Step[],
  more: object = {},
  options: ProxyOptions = {},
): Promise<readonly number[]> {
  let actual: readonly string[] = [];
  await withProxy(options, async (t) => {
    actual = await send(t, body(steps, more));
  });
  return actual.flatMap((result, index) => (isInParts(result) ? [index] : []));
}

test('a long file keeps its ends, its definitions and what the question names, and says how to read the rest', () =>
  withProxy({}, async (t) => {
    const [got] = await send(t, body([read('a.ts', 'alpha')]));
    const original = source('alpha').split('\n');
    const body77 = original.slice(original.findIndex((line) => line.includes('alphaStep77(')));
    for (const line of [...original.slice(0, 8), ...body77.slice(0, 6), ...original.slice(-7)])
      assert.ok(got!.includes(line), line);
    const signatures = original.filter((line) => line.startsWith('export function'));
    const kept = signatures.filter((line) => got!.includes(line));
    assert.ok(kept.length > 40, `${kept.length} signatures`);
    const own = got!.split('\n').map((line) => line.replace(/^ *\d+→/, ''));
    const strange = own.filter((line) => !line.startsWith('[svc ') && !original.includes(line));
    assert.equal(strange, [], 'every line is in the file');
    const found =
      /\[svc omitted (\d+) of 1202 lines here \(lines (\d+)–(\d+)\); the source is complete; to see them: Read with offset (\d+) and limit (\d+)\]/.exec(
        got!,
      );
    const [count, from, to, offset, limit] = found!.slice(1).map(Number);
    assert.equal([offset, limit], [from, count]);
    assert.is(to! - from! + 1, count);
    const before = got!.split('\n')[got!.split('\n').indexOf(found![0]) - 1]!;
    assert.ok(
      before.endsWith(original[from! - 2]!),
      'the line before the gap is the one before it',
    );
    assert.ok(got!.length < source('alpha').length / 2);
  }));

test('later turns send the same excerpt, even after edits or a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-long-'));
  const steps = [
    read('a.ts', 'alpha'),
    shell('cat src/b.ts', source('beta')),
    edit('a.ts'),
    read('a.ts', 'alpha', { offset: 600, limit: 9 }),
    read('c.ts', 'gamma'),
    read('a.ts', 'alpha'),
    edit('c.ts'),
    { ...read('d.ts', 'delta'), ask: 'And what does deltaStep5 do?' },
  ];
  const options = { env: { SVC_HOME: folder } };
  try {
    let before: readonly string[] = [];
    let t = await startTestProxy(options);
    for (let count = 1; count <= steps.length; count++) {
      const actual = await send(t, body(steps.slice(0, count)));
      assert.equal(actual.slice(0, before.length), before, `turn ${count}`);
      before = actual;
      await t.close();
      t = await startTestProxy(options);
    }
    assert.equal(before.map(isInParts), [true, true, false, false, true, false, false, true]);
    await t.close();
    // The setting is off now: a running conversation keeps what it began with.
    t = await startTestProxy({ ...options, yaml: 'compression: { long_results_tokens: 0 }' });
    assert.equal(await send(t, body(steps)), before);
    await t.close();
    t = await startTestProxy({ ...options, yaml: 'compression: { mode: strict }' });
    assert.equal((await send(t, body(steps))).some(isInParts), false, 'strict wins');
    await t.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a file sent in full stays in full, even after an edit', () =>
  withProxy({}, async (t) => {
    const steps = [read('a.ts', 'alpha'), edit('a.ts'), read('b.ts', 'beta'), edit('x.ts')];
    const first = await send(t, body(steps.slice(0, 3)));
    assert.equal(first.map(isInParts), [false, false, true]);
    assert.equal((await send(t, body(steps))).slice(0, 3), first);
    // The conversation rewound to before the edit.
    assert.equal(await send(t, body(steps.slice(0, 1))), first.slice(0, 1));
  }));

test('errors, requested parts, and results that cannot be fetched in parts are sent in full', async () => {
  const text = source('alpha');
  const whole: readonly Step[] = [
    { ...read('a.ts', 'alpha'), error: true },
    read('b.ts', 'beta', { offset: 200 }),
    read('c.ts', 'gamma', { limit: 1500 }),
    shell("sed -n '1,1200p' d.ts", source('delta')),
    shell('head -1300 e.ts', source('eps')),
    shell('python make.py > f.ts; cat f.ts', source('zeta')),
    shell('node print.js', source('eta')),
    { name: 'Task', input: { prompt: 'Show it.' }, text: source('theta') },
    { name: 'read_whole', input: { path: 'g.ts' }, text: source('iota') },
    { name: 'WebFetch', input: { url: 'https://example.test/a.ts' }, text: source('kappa') },
  ];
  assert.equal(await inParts(whole), []);
  assert.equal(
    await inParts([
      { name: 'read_file', input: { path: 'a.ts' }, text },
      read('b.ts', 'beta', { offset: 1 }),
      shell('cd /w && cat -n c.ts', source('gamma')),
    ]),
    [0, 1, 2],
  );
});

test('omits nothing if off, in strict, below the limit or if the provider edits the context', async () => {
  const steps = [read('a.ts', 'alpha')];
  const yaml = (text: string): ProxyOptions => ({ yaml: `compression: { ${text} }` });
  assert.equal(await inParts(steps, {}, yaml('mode: aggressive')), [0]);
  assert.equal(await inParts(steps, {}, yaml('long_results_tokens: 0')), []);
  assert.equal(await inParts(steps, {}, yaml('long_results_tokens: 30000')), []);
  assert.equal(await inParts(steps, {}, yaml('mode: strict')), []);
  const clears = { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } };
  assert.equal(await inParts(steps, clears), []);
});

test('a result that rules have shortened enough is sent in that form', async () => {
  const rows = Array.from({ length: 900 }, (_, id) => ({
    id,
    name: `part ${id}`,
    open: id % 3 === 0,
  }));
  await withProxy({}, async (t) => {
    const steps = [
      shell(
        'ls -R /w',
        Array.from({ length: 3000 }, (_, n) => `/w/src/part/${n * 31}.ts`).join('\n'),
      ),
      { name: 'mcp__db__query', input: { path: '/rows' }, text: JSON.stringify(rows, null, 2) },
    ];
    const actual = await send(t, body(steps));
    assert.equal(actual.map(isInParts), [false, false]);
  });
});

test('the marker uses the parameter names of the tool, in every dialect', async () => {
  const text = source('alpha');
  const chat = (name: string, parameters: object, input: object) => ({
    model: 'gpt-5',
    tools: [{ type: 'function', function: { name, parameters } }],
    messages: [
      { role: 'user', content: 'Mend it.' },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name, arguments: JSON.stringify(input) } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: text },
    ],
  });
  await withProxy({}, async (t) => {
    for (const [name, names, input, expected] of [
      [
        'read_file',
        ['path', 'start_line', 'end_line'],
        { path: 'a.ts' },
        /read_file with start_line \d+ and end_line \d+\]/,
      ],
      ['shell', ['command'], { command: ['bash', '-lc', 'cat a.ts'] }, /sed -n '\d+,\d+p' a\.ts\]/],
    ] as const) {
      const before = t.upstream.requests.length;
      const request = chat(name, schema(...names), input);
      const { status } = await exchange(t.proxy.port, {
        path: '/v1/chat/completions',
        body: JSON.stringify(request),
      });
      assert.is(status, 200);
      assert.match(t.upstream.requests[before]!.bodyBytes.toString(), expected);
    }
  });
});

test('the receipt shows the saving under its own source only', () => {
  const usage = { input: 9000, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  return withProxy({ upstream: { replies: () => ({ usage }) } }, async (t) => {
    const table = Array.from({ length: 400 }, (_, id) => ({ id, name: `part ${id * 7919}` }));
    const steps = [
      read('a.ts', 'alpha'),
      { name: 'mcp__db__query', input: { sql: 'x' }, text: JSON.stringify(table, null, 2) },
    ];
    await send(t, body(steps.slice(0, 1)));
    await send(t, body(steps));
    const [first, second] = await t.rows(2);
    assert.ok(first!.longResultTokens! > 5000);
    // Part of the saving is shorter line numbers, which count as compression.
    assert.ok(first!.longResultTokens! < first!.savedTokens!);
    assert.is(first!.costSavedByLongResultsNanoUsd, first!.longResultTokens! * 3000);
    assert.ok(second!.savedTokens! > second!.longResultTokens!);
    const response = await exchange(t.proxy.port, { method: 'GET', path: '/savings' });
    const { lanes } = JSON.parse(response.text) as {
      lanes: Record<string, { tokens_saved: number; requests?: number }>;
    };
    const sum = first!.longResultTokens! + second!.longResultTokens!;
    assert.equal([lanes['long_results']!.requests, lanes['long_results']!.tokens_saved], [2, sum]);
    assert.is(lanes['compression']!.tokens_saved, first!.savedTokens! + second!.savedTokens! - sum);
    assert.is(lanes['forgetting']!.tokens_saved, 0);
  });
});

test.after(closeClients);
test.run();
