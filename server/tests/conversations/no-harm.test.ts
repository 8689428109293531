/** What compression must not remove, checked in the bytes that the provider receives. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { closeClients } from '../../../fixtures/server/exchange.ts';
import { forwardedBody } from '../../../fixtures/server/vault.ts';

const YAML = 'compression: { threshold_tokens: 0 }';

/** A tool call and its result. */
interface Step {
  readonly tool: string;
  readonly input: object;
  readonly result: string;
}

const bash = (command: string, result: string): Step => ({
  tool: 'Bash',
  input: { command },
  result,
});
const read = (path: string, result: string): Step => ({
  tool: 'Read',
  input: { file_path: path },
  result,
});

function body(first: string, steps: readonly Step[], more: object = {}): object {
  const messages: object[] = [{ role: 'user', content: first }];
  steps.forEach(({ tool, input, result }, index) => {
    const id = `t${index}`;
    messages.push(
      { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
    );
  });
  return { model: 'claude-fixture-1', max_tokens: 9, messages, ...more };
}

interface Received {
  readonly messages: readonly { readonly content: string | readonly { content?: string }[] }[];
}

/** Sends the request; returns the results that the provider received, oldest first. */
async function results(t: TestProxy, request: object): Promise<readonly string[]> {
  const { messages } = JSON.parse(await forwardedBody(t, '/v1/messages', request)) as Received;
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => part.content ?? []),
  );
}

const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

const FILE = times(120, (n) => `export const value${n} = compute(${n}, 'the text of ${n * 7}');`);
const ASK = 'Please look into this.';
const CLEARS = { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } };

test('nothing refers to a result if the provider may clear results', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const steps = [read('/w/a.ts', FILE), read('/w/a.ts', FILE)];
    const [, again] = await results(t, body(ASK, steps));
    assert.match(again!, '[svc lines 1–120 of result 1 (a.ts) again]');
    const messages = [
      CLEARS,
      { context_management: { edits: [{ type: 'compact_20260112' }] } },
      { context_management: [{ type: 'compaction', compact_threshold: 1000 }] },
    ];
    for (const [index, more] of messages.entries()) {
      const out = await results(t, body(`${ASK} ${index}`, steps, more));
      assert.equal(out, [FILE, FILE], JSON.stringify(more));
    }
    // Clearing only thinking is harmless.
    const thinking = { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } };
    assert.match((await results(t, body(`${ASK} 9`, steps, thinking)))[1]!, '[svc ');
    // This turn does not ask for clearing, but an earlier one did.
    const first = body(`${ASK} later`, steps.slice(0, 1), CLEARS);
    assert.equal(await results(t, first), [FILE]);
    assert.equal(await results(t, body(`${ASK} later`, steps)), [FILE, FILE]);
  }));

test('nothing refers to a response stored by the provider, or to a list that it may cut', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const call = (at: number) => [
      { type: 'function_call', call_id: `c${at}`, name: 'Read', arguments: '{"path":"a.ts"}' },
      { type: 'function_call_output', call_id: `c${at}`, output: FILE },
    ];
    for (const [index, more] of [
      {},
      { previous_response_id: 'resp_1' },
      { truncation: 'auto' },
      { conversation: 'conv_1' },
    ].entries()) {
      const input = [{ role: 'user', content: `${ASK} ${index}` }, ...call(0), ...call(1)];
      const out = await forwardedBody(t, '/v1/responses', {
        model: 'gpt-fixture-1',
        input,
        ...more,
      });
      assert.is(out.includes('[svc '), index === 0, JSON.stringify(more));
    }
  }));

const SUMMARY = [
  'This session is being continued from a previous conversation that ran out of context.',
  ...Array.from(
    { length: 30 },
    (_, n) =>
      `In step ${n} the parser of module ${n} was rewritten, because the old one lost the last line. All tests pass after that. The project does not use type hints. Fix the remaining warning in file ${n} and commit.`,
  ),
  'NOTE ABOUT THE EDIT COMMAND: Indentation really matters! Count the blanks before you write.',
  ...Array.from(
    { length: 10 },
    (_, n) => `The reviewer asked twice for shorter names in module ${n % 3}; please keep to that.`,
  ),
].join('\n\n');

test('text written by a person or a client is sent verbatim', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const reminder = `<system-reminder>\n# CLAUDE.md\n\n${SUMMARY}\n</system-reminder>`;
    const mixed = `${SUMMARY}\n\n${times(80, (n) => `2026-01-02 10:00:${n % 60} INFO step ${n} done`)}\n\nWhat is wrong?`;
    for (const text of [SUMMARY, reminder, mixed]) {
      const request = body(text, [bash('true', 'done')]);
      assert.is(await forwardedBody(t, '/v1/messages', request), JSON.stringify(request));
    }
    // The question follows the text, so that it could be shortened by relevance.
    const messages = [{ role: 'user', content: `${SUMMARY}\n\nWhich module lost the last line?` }];
    const request = { model: 'claude-fixture-1', max_tokens: 9, messages: messages };
    assert.is(await forwardedBody(t, '/v1/messages', request), JSON.stringify(request));
    const rows = JSON.stringify(Array.from({ length: 90 }, (_, id) => ({ id, name: `n${id}` })));
    const pasted = await forwardedBody(
      t,
      '/v1/messages',
      body(`This came:\n\n${rows}\n\nWhy?`, []),
    );
    assert.match(pasted, '[svc JSON, complete');
  }));

test('lines that someone wrote between pasted paths or search results stay unchanged', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const paths = times(90, (n) => `src/components/deep/folder/part${n}/index.tsx`);
    const hits = times(60, (n) => `src/deep/folder/part${n % 9}.ts:${n}:  return early(${n});`);
    const points = times(50, (n) => `- Changed src/deep/file${n}.ts:${n}: returns early`);
    const put = async (pasted: string) => {
      const request = body(`That is it:\n\n${pasted}\n\nWhat do you think?`, []);
      return [JSON.stringify(request), await forwardedBody(t, '/v1/messages', request)] as const;
    };
    for (const printed of [paths, hits]) {
      const [before, after] = await put(printed);
      assert.ok(after.length < before.length, 'only output is compressed');
      for (const written of [
        'Please convert these files:',
        'and keep the default exports.',
        'see below',
        '- this one twice',
        '2. then these',
        'I like that',
        'Hi Anna!',
        '!!! look',
        'rename part1.ts to part2.ts',
        '请修改下面的文件',
      ]) {
        for (const pasted of [`${written}\n${printed}`, `${printed}\n${written}`]) {
          const [whole, out] = await put(pasted);
          assert.is(out, whole, written);
        }
      }
    }
    const [whole, out] = await put(points);
    assert.is(out, whole, 'points of a summary');
  }));

test('no sentence is removed from instructions for agents, or from replies by people', () =>
  withProxy({ yaml: YAML }, async (t) => {
    // Without repeats, since a second copy may become a reference.
    const summary = [...new Set(SUMMARY.split('\n\n'))].join('\n\n');
    const numbered = summary
      .split('\n')
      .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`);
    const question = 'Which module lost the last line?';
    const ask = { tool: 'AskUserQuestion', input: { questions: [] }, result: summary };
    for (const step of [
      read('/w/CLAUDE.md', summary),
      read('/w/sub/AGENTS.md', numbered.join('\n')),
      read('/w/.cursor/rules/style.mdc', summary),
      bash('cat README.txt .github/copilot-instructions.md', summary),
      { tool: 'read_many_files', input: { paths: ['a.md', 'GEMINI.md'] }, result: summary },
      ask,
      { tool: 'Task', input: { prompt: 'Look for it.' }, result: summary },
      { tool: 'Skill', input: { skill: 'style' }, result: summary },
    ]) {
      const [out] = await results(t, body(question, [step]));
      for (const line of summary.split('\n'))
        assert.ok(out!.includes(line), JSON.stringify(step.input));
    }
  }));

test('prose of users may be shortened if they allow it', () =>
  withProxy({ yaml: `${YAML.slice(0, -1)}, user_prose: true }` }, async (t) => {
    const text = `${SUMMARY}\n\nWhich module lost the last line?`;
    const request = { ...body(text, []), messages: [{ role: 'user', content: text }] };
    assert.match(await forwardedBody(t, '/v1/messages', request), 'sentences, at each …');
  }));

test('a reference counts lines of the original, whatever was omitted from it', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0, mode: aggressive }' }, async (t) => {
    const source = times(40, (n) =>
      [
        `// What part ${n} is for.`,
        `// More of it.`,
        `export const part${n} = build(${n}, 'p${n}');`,
      ].join('\n'),
    );
    const lines = source.split('\n');
    const code = lines.filter((line) => !line.startsWith('//'));
    const later = ['The part that matters:', ...code.slice(20, 30), 'and no more'].join('\n');
    const [, out] = await results(t, body(ASK, [read('/w/a.ts', source), bash('./show', later)]));
    for (const [, from, to] of out!.matchAll(/\[svc lines? (\d+)(?:–(\d+))? of result 1/g)) {
      const named = lines.slice(Number(from) - 1, Number(to ?? from));
      assert.ok(
        named.every((line) => later.includes(line)),
        `${from}–${to}: ${named.join(' | ')}`,
      );
    }
    for (const line of code.slice(20, 30)) {
      const at = lines.indexOf(line) + 1;
      const isNamed = [...out!.matchAll(/(\d+)(?:[–-](\d+))?(?: of| again|\])/g)].some(
        ([, from, to]) => at >= Number(from) && at <= Number(to ?? from),
      );
      assert.ok(out!.includes(line) || isNamed, line);
    }
  }));

test('nothing is omitted from a log within the budget', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const dots = times(60, (n) => `test/part_${n}_test.exs: ok ${n} in ${n % 7}.${n} ms`);
    const mix = `Compiling 12 files (.ex)\nGenerated app\n${dots}\n\nFinished in 4.1 seconds\n386 tests, 0 failures\n\nRandomized with seed 4711`;
    const debug = times(20, (n) => `DEBUG my own print ${n}: x=${n * n}`);
    const table = times(
      40,
      (n) => `src/mod.py:${n}:0: C0116: Missing function docstring (missing-function-docstring)`,
    );
    const lint = `${debug}\n************* Module src.mod\n${table}\n\nYour code has been rated at 7.31/10`;
    const commit = `${times(70, (n) => `> lint-staged step ${n}: checking src/file-${n}.ts`)}\n[refactor eba196f] Split the parser\n 3 files changed, 40 insertions(+), 2 deletions(-)`;
    for (const [command, text] of [
      ['mix test', mix],
      ['python check.py; pylint src', lint],
      ['git commit -am x', commit],
    ] as const) {
      const [out] = await results(t, body(`${ASK} ${command}`, [bash(command, text)]));
      const texts = new Set(out!.split('\n'));
      // Folded lines can be decoded; omitted lines would be announced.
      assert.not.match(out!, 'omitted', command);
      for (const line of text.split('\n').slice(-3))
        assert.ok(texts.has(line), `${command}: ${line}`);
      assert.match(out!, text.split('\n')[0]!);
    }
  }));

test('a longer log keeps its ends, the totals, the exit status and unusual lines', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const lines = [
      'shell cwd was /w',
      '$ npm test',
      'warming up',
      ...Array.from(
        { length: 900 },
        (_, n) => `ok ${n + 1} - part ${n} of the suite does what it should in ${n % 9} ms`,
      ),
      '=> the print that I put there myself',
      ...Array.from(
        { length: 900 },
        (_, n) => `ok ${n + 901} - another part ${n} does what it should in ${n % 9} ms`,
      ),
      '1..1800',
      '# tests 1800',
      '# pass 1800',
      '# fail 0',
      ...Array.from({ length: 40 }, (_, n) => `Cleaning up temporary folder ${n} of the suite`),
      'bye',
      'Process exited with code 0',
      'done.',
    ];
    const [out] = await results(t, body(ASK, [bash('npm test', lines.join('\n'))]));
    const texts = new Set(out!.split('\n'));
    assert.match(out!, '[svc omitted');
    for (const line of [
      ...lines.slice(0, 3),
      ...lines.slice(-3),
      '# tests 1800',
      '# fail 0',
      '1..1800',
      '=> the print that I put there myself',
    ])
      assert.ok(texts.has(line), line);
  }));

test('the decisive parts of a repeated run are sent again', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const short = `> test\n> uvu\n\n${times(12, (n) => `suite number ${n} of the parser: passed`)}\n\n  Total:     12\n  Passed:    12\n  Skipped:   0`;
    const edit = { tool: 'Edit', input: { file_path: '/w/a.ts' }, result: 'The file was updated.' };
    const run = bash('npm test', short);
    const out = await results(t, body(ASK, [run, edit, run]));
    assert.is(out[2], short);
    const long = `> test\n> uvu\n\n${times(60, (n) => `suite number ${n} of the parser and its many parts: passed`)}\nsuite that changes: 1 ms\n${times(30, (n) => `suite number ${n} of the printer and its many parts: passed`)}\n\n  Total:     91\n  Passed:    91\n  Skipped:   0`;
    const later = long.replace('1 ms', '7 ms');
    const again = await results(
      t,
      body(ASK, [bash('npm test', long), edit, bash('npm test', later)]),
    );
    const texts = again[2]!.split('\n');
    assert.ok(again[2]!.length < later.length / 2);
    const lines = later.split('\n').filter((line) => line.trim() !== '');
    for (const line of [...lines.slice(0, 3), ...lines.slice(-3), 'suite that changes: 7 ms'])
      assert.ok(texts.includes(line), line);
    for (const line of texts.filter((text) => text.startsWith('[svc ')))
      assert.match(line, /result 1 \(npm test\)/);
  }));

test('in hybrid code and JSON from a file stay unchanged, and small gains are not taken', () =>
  withProxy({ yaml: YAML }, async (t) => {
    const method = (n: number) =>
      `  async load${n}() {\n    const connection = await this.pool.acquire({ timeoutMs: 5000 });\n    try {\n      return await connection.query(this.statements.load${n}, { fresh: true });\n    } finally {\n      this.pool.release(connection);\n    }\n  }`;
    const code = `class Store {\n${times(20, method)}\n}`;
    const rows = JSON.stringify(
      Array.from({ length: 60 }, (_, id) => ({
        id,
        state: 'a state that all of the rows have in common',
        tags: ['a', 'b'],
      })),
      null,
      2,
    );
    const out = await results(
      t,
      body(ASK, [
        bash("sed -n '1,200p' store.ts", code),
        bash('cat data.json', rows),
        bash('curl -s localhost/rows', rows.replaceAll('state', 'status')),
      ]),
    );
    assert.is(out[0], code);
    assert.not.match(out[1]!, 'this text');
    assert.match(out[2]!, '[svc JSON, complete');
  }));

test.after(closeClients);
test.run();
