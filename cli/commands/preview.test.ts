import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

const grepOutput = Array.from(
  { length: 60 },
  (_, n) => `src/components/navigation/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');

const BODIES = {
  messages: {
    model: 'claude-fixture-1',
    max_tokens: 10,
    messages: [
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Grep', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: grepOutput }] },
    ],
  },
  chat: {
    model: 'gpt-fixture-1',
    messages: [
      { role: 'user', content: 'Where?' },
      {
        role: 'assistant',
        tool_calls: [{ id: 't', type: 'function', function: { name: 'Grep', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't', content: grepOutput },
    ],
  },
  responses: {
    model: 'gpt-fixture-1',
    input: [
      { role: 'user', content: 'Where?' },
      { type: 'function_call', call_id: 't', name: 'Grep', arguments: '{}' },
      { type: 'function_call_output', call_id: 't', output: grepOutput },
    ],
  },
  generative: {
    contents: [
      { role: 'user', parts: [{ text: 'Where?' }] },
      { role: 'model', parts: [{ functionCall: { name: 'Grep', args: {} } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'Grep', response: { output: grepOutput } } }],
      },
    ],
  },
} as const;

interface Printed {
  readonly as: string;
  readonly tokenizer: string;
  readonly total: { readonly before: number; readonly after: number; readonly saved: number };
  readonly blocks: readonly {
    readonly index: number;
    readonly changed: boolean;
    readonly reason: string | null;
    readonly before?: string;
    readonly tokens: { readonly before: number; readonly after: number; readonly saved: number };
  }[];
}

function write(place: Place, name: string, content: unknown): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(place.folder, name), text);
  return name;
}

async function printed(place: Place, ...argv: readonly string[]): Promise<Printed> {
  const ran = await run(place, ['preview', ...argv, '--json']);
  assert.is(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout) as Printed;
}

test('each kind of request is recognised by its shape', async () => {
  const place = makePlace();
  for (const [kind, body] of Object.entries(BODIES)) {
    const preview = await printed(place, write(place, `${kind}.json`, body), '--threshold', '0');
    assert.is(preview.as, kind);
    assert.is(preview.tokenizer, kind === 'messages' ? 'claude' : 'o200k');
    assert.equal(
      preview.blocks.map(({ changed }) => changed),
      [false, false, true],
      kind,
    );
    assert.ok(preview.total.saved > 0.2 * preview.total.before);
  }
  place.dispose();
});

test('any other file is previewed as a tool result', async () => {
  const place = makePlace();
  const steps = Array.from(
    { length: 2000 },
    (_, n) => `2026-11-20T10:00:00Z INFO step ${n} of the build took ${n % 7} s`,
  );
  for (const [name, content] of [
    ['hits.txt', grepOutput],
    ['build.log', steps.join('\n')],
  ] as const) {
    const preview = await printed(place, write(place, name, content), '--show', '0');
    assert.is(preview.as, 'text');
    assert.is(preview.blocks.length, 1);
    assert.is(preview.blocks[0]?.before, content);
    assert.ok(preview.total.saved > 0, name);
  }
  const rows = Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${id}`, state: 'open' }));
  const file = write(place, 'rows.json', JSON.stringify(rows, undefined, 2));
  const [kept] = (await printed(place, file)).blocks;
  assert.is(kept?.changed, false, 'an edit may have to match a file to the letter');
  const same = await printed(place, file, '--mode', 'aggressive');
  assert.is(
    same.blocks[0]?.changed,
    false,
    'nor could a table of it be named when it is read again',
  );
  const line = write(place, 'line.json', JSON.stringify(rows));
  const smaller = await printed(place, line, '--mode', 'aggressive');
  assert.ok(smaller.total.saved > 0.2 * smaller.total.before);
  place.dispose();
});

test('--config may name the file that the proxy runs with', async () => {
  const place = makePlace();
  const request = write(place, 'request.json', BODIES.messages);
  const config = write(place, 'mine.yaml', 'compression: { mode: strict }\n');
  const preview = await printed(place, request, '--threshold', '0', '--config', config);
  assert.is(preview.total.saved, 0);
  place.dispose();
});

test('an unreadable file is reported with the reason in plain words', async () => {
  const place = makePlace();
  const ran = await run(place, ['preview', place.folder]);
  assert.is(ran.code, exitCodes.bad_request);
  assert.match(ran.stderr, /cannot be read: it is a folder\n$/);
  place.dispose();
});

test('the saving is the difference, and never negative, in every mode', async () => {
  const place = makePlace();
  const file = write(place, 'request.json', BODIES.messages);
  for (const mode of ['strict', 'hybrid', 'aggressive']) {
    const { blocks, total } = await printed(place, file, '--threshold', '0', '--mode', mode);
    for (const { before, after, saved } of [total, ...blocks.map(({ tokens }) => tokens)]) {
      assert.is(saved, Math.max(0, before - after));
    }
    assert.is(total.saved === 0, mode === 'strict', mode);
  }
  place.dispose();
});

test('the threshold of the configuration applies to requests', async () => {
  const place = makePlace();
  const file = write(place, 'request.json', BODIES.messages);
  const { blocks, total } = await printed(place, file);
  assert.is(total.saved, 0);
  assert.is(blocks[2]?.reason, 'below-threshold');
  const ran = await run(place, ['preview', file]);
  assert.match(ran.stderr, /--threshold 0 shows/);
  place.dispose();
});

test('tool definitions that the configuration trims count, each in a row of its own', async () => {
  const place = makePlace();
  const properties = { pattern: { title: 'Pattern', type: 'string' } };
  const tools = ['Grep', 'Glob'].map((name) => ({
    name,
    description: 'Looks for it.  In files.',
    input_schema: { type: 'object', properties, required: [] },
  }));
  const file = write(place, 'request.json', { ...BODIES.messages, tools });
  const args = ['preview', file, '--threshold', '0'];
  const off = await printed(place, file, '--threshold', '0');
  assert.equal(
    off.blocks.map(({ index }) => index),
    [0, 1, 2],
  );
  write(place, 'proxy.yaml', 'compression:\n  tools: trim\n');
  const { blocks, total } = await printed(place, file, '--threshold', '0');
  assert.equal(
    blocks.map(({ index, changed }) => [index, changed]),
    [
      [-1, true],
      [-2, true],
      [0, false],
      [1, false],
      [2, true],
    ],
  );
  const [first, second] = blocks.map(({ tokens }) => tokens);
  assert.ok(first!.saved > 5);
  assert.is(total.saved, off.total.saved + first!.saved + second!.saved);
  const { stdout } = await run(place, [...args, '--show', '2']);
  assert.match(stdout, /– +definition of Grep +– .*tool-trim/);
  assert.match(stdout, /as a messages request for claude-fixture-1: 3 blocks/);
  assert.match(stdout, /\[svc hits/);
  const strict = await printed(place, file, '--threshold', '0', '--mode', 'strict');
  assert.is(strict.total.saved, 0);
  place.dispose();
});

test('the human-readable output has a table, the totals and the lines', async () => {
  const place = makePlace();
  const file = write(place, 'request.json', BODIES.messages);
  const { stdout } = await run(place, ['preview', file, '--threshold', '0', '--show', '2']);
  assert.match(stdout, /^request\.json as a messages request for claude-fixture-1: 3 blocks/);
  assert.match(stdout, /^ *2 {2}result of Grep +grep +[\d,]+ +[\d,]+ +\d+% +grep$/m);
  assert.match(stdout, /2 blocks .* never touched here: 1 typed by the user, 1 tool call/);
  assert.match(stdout, /Saved +[\d,]+ tokens \(\d+%\)/);
  assert.match(stdout, /^@@ -1,60 /m);
  assert.match(stdout, /^-src\/components.*item0 /m);
  assert.match(stdout, /^… \d+ more removed lines; --full shows them$/m);
  const full = await run(place, ['preview', file, '--threshold', '0', '--show', '2', '--full']);
  assert.is(full.stdout.split('\n').filter((line) => line.startsWith('-src')).length, 60);
  place.dispose();
});

test('nothing in a text can control the terminal', async () => {
  const place = makePlace();
  const hostile = grepOutput.replaceAll('item3', '\u001b]0;title\u0007\u009b2J');
  const file = write(place, 'hits.txt', hostile);
  const { stdout } = await run(place, ['preview', file, '--show', '0', '--full']);
  for (const control of ['\u001b', '\u0007', '\u009b']) assert.not.ok(stdout.includes(control));
  assert.ok(stdout.includes('\\x1b]0;title\\x07\\x9b2J'));
  place.dispose();
});

test('a file that cannot be previewed is reported with its cause', async () => {
  const place = makePlace();
  const file = write(place, 'request.json', BODIES.messages);
  const codeOf = async (...argv: string[]) => (await run(place, ['preview', ...argv])).code;
  assert.is(await codeOf('none.json'), exitCodes.not_found);
  assert.is(await codeOf(write(place, 'empty.txt', '\n')), exitCodes.bad_request);
  assert.is(await codeOf('.'), exitCodes.bad_request);
  assert.is(await codeOf(file, '--mode', 'harder'), exitCodes.usage);
  assert.is(await codeOf(file, '--show', '3'), exitCodes.usage);
  place.dispose();
});

test('prose is previewed as part of a request with a question', async () => {
  const place = makePlace();
  const essay = `# The harbour town\n\n${Array.from(
    { length: 60 },
    (_, n) =>
      `Ferry ${n} was built by the guild, which few visitors of the town notice. In the year ${1700 + n} it sank after storm number ${n * 7}.`,
  ).join('\n\n')}\n`;
  const file = write(place, 'essay.md', essay);
  const alone = await printed(place, file);
  const asRequest = await printed(
    place,
    write(place, 'request.json', {
      model: 'gpt-fixture-1',
      input: [
        { role: 'user', content: 'What is said about The harbour town?' },
        {
          type: 'function_call',
          call_id: 't',
          name: 'Read',
          arguments: '{"file_path":"essay.md"}',
        },
        { type: 'function_call_output', call_id: 't', output: essay },
      ],
    }),
    '--threshold',
    '0',
  );
  assert.ok(alone.total.saved > 0);
  assert.equal(alone.blocks[0]!.tokens, asRequest.blocks.at(-1)!.tokens);
  const named = await printed(place, file, '--ask', 'What does essay.md say about the town?');
  assert.is(named.total.saved, 0, 'a file that is named stays whole');
  // Without a question, all of it stays.
  assert.is((await printed(place, file, '--ask', '')).total.saved, 0);
});

test.run();
