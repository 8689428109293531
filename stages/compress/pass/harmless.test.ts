/** What must reach the model whatever is saved: each a kind of block from real sessions, with words of our own. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONVERSATION, times } from '../../../fixtures/compress/texts.ts';
import type { Mode } from '../rules/rule.ts';
import type { ConversationBlock } from './blocks.ts';
import { compressConversation } from './conversation.ts';

interface Call {
  readonly tool: string;
  readonly input: unknown;
  readonly text: string;
}

/** What goes out for the result of each call, behind one question. */
function sent(question: string, calls: readonly Call[], mode: Mode = 'hybrid'): readonly string[] {
  const asked: ConversationBlock = {
    index: 0,
    role: 'user',
    kind: 'user_text',
    text: question,
    message: 0,
  };
  const blocks = calls.map(({ tool, input, text }, at): ConversationBlock => ({
    index: at + 1,
    role: 'user',
    kind: 'tool_result',
    message: at + 1,
    text,
    toolName: tool,
    toolInput: input,
  }));
  return compressConversation([asked, ...blocks], { ...CONVERSATION, mode })
    .slice(1)
    .map(({ text }) => text);
}

const bash = (command: string, text: string): Call => ({ tool: 'Bash', input: { command }, text });

const FILLER = times(
  14,
  (n) =>
    `The ${n}th matter of the harbour is told at some length by those who came by boat, and nobody wrote down when.`,
);

test('a search and a fetched page are judged by what the call asked for', () => {
  const answer = [
    'The lantern burns for nine hours on one filling of oil.',
    'Those with a wider wick burn for seven, and smoke a little.',
  ];
  const page = [
    '## The harbour',
    ...FILLER.slice(0, 7),
    '## Burning time:',
    ...answer,
    '## The boats',
    ...FILLER.slice(7),
  ].join('\n');
  for (const [tool, input] of [
    ['WebSearch', { query: 'lantern burning time per filling' }],
    ['WebFetch', { url: 'https://example.com', prompt: 'How long is the burning time?' }],
    ['web_search', { search_term: 'burning time' }],
    ['tavily_search', { query: ['lantern', 'burning time'] }],
  ] as const)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const [out] = sent(
        'Who sailed the boats of the harbour?',
        [{ tool, input, text: page }],
        mode,
      );
      for (const line of answer) assert.ok(out!.includes(line), `${tool} ${mode}: ${out}`);
    }
});

test('what people wrote to each other, and a file that the question names, lose no sentence', () => {
  const wrote = times(
    30,
    (n) =>
      `The ${n}th boat lies at berth ${n * 7} of the harbour, and its owner asks whether the crane can lift ${n + 3} tons of it by spring.`,
  ).join(' ');
  for (const mode of ['hybrid', 'aggressive'] as const) {
    for (const tool of [
      'mcp__linear__get_issue',
      'jira_get_issue',
      'mcp__github__pull_request_read',
      'list_comments',
      'mcp__slack__conversations_history',
      'read_email',
      'get_meeting_transcript',
    ])
      assert.is(
        sent('Where does the crane stand?', [{ tool, input: { id: 7 }, text: wrote }], mode)[0],
        wrote,
        tool,
      );
    const read = (question: string, call: Call): string => sent(question, [call], mode)[0]!;
    const reader = { tool: 'Read', input: { file_path: '/app/docs/crane.md' }, text: wrote };
    for (const call of [reader, bash('cat docs/crane.md', wrote)]) {
      assert.is(read('Do what crane.md says', call), wrote);
      assert.ok(read('How many tons can the crane lift?', call).length < wrote.length);
    }
  }
});

test('a question that asks nothing of a text takes no sentence out of it', () => {
  const text = `${FILLER.join(' ')} The next boat starts its work again when all tasks are done. ${FILLER.map((line) => line.replace('boat', 'ferry').replace('told', 'written')).join(' ')}`;
  const call = bash('cat docs/harbour.md', text);
  for (const mode of ['hybrid', 'aggressive'] as const) {
    for (const question of [
      'Continue',
      'Go on with the next task',
      'ok, now start the work again please',
      'Yes, do it all',
    ])
      assert.is(sent(question, [call], mode)[0], text, question);
    assert.ok(sent('Who came by ferry?', [call], mode)[0]!.length < text.length);
  }
});

/** What agents say after an edit, by agent; `N` differs from edit to edit. */
const CONFIRMATIONS: readonly (readonly [tool: string, input: object, text: string])[] = [
  [
    'Edit',
    {
      file_path: '/app/src/stock_controller_of_the_warehouse.ex',
      old_string: 'a',
      new_string: 'b',
    },
    "The file /app/src/stock_controller_of_the_warehouse.ex has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n    1N\t  def index do\n    1N\t    items = Stock.list(N)",
  ],
  [
    'shell',
    { command: ['apply_patch', '*** Begin Patch'] },
    'Success. Updated the following files:\nM src/controllers/of/the/warehouse/stock_controller.ts\nM src/controllers/of/the/warehouse/other_controller.ts\nM src/controllers/of/the/warehouse/third_controller.ts\n',
  ],
  [
    'replace_in_file',
    { path: 'src/a.ts', diff: '<<<' },
    'The content was successfully saved to src/controllers/of/the/warehouse/a.ts.\n\nHere is the full, updated content of the file that was saved:\n\n<final_file_content path="src/a.ts">\nexport const n = N;\n</final_file_content>\n\nIMPORTANT: For any future changes to this file, use the final_file_content shown above as your reference.\n\nNew problems detected after saving the file:\nsrc/a.ts\n- [ts Error] Line 4: Cannot find name of the one that was imported',
  ],
  [
    'edit',
    { filePath: '/app/curl.cpp', oldString: 'a', newString: 'b' },
    'Edit applied successfully.\n\nLSP errors detected in this file, please fix:\n<diagnostics file="/app/curl.cpp">\nERROR [29:10] In included file: \'base_config.h\' file not found\n\n/app/port/base_port.h:66:10:\nnote: error occurred here\n</diagnostics>',
  ],
  [
    'replace',
    { file_path: '/app/a.ts', old_string: 'a', new_string: 'b' },
    'Successfully modified file: /app/src/controllers/of/the/warehouse/a.ts (1 replacements). Here is the updated code:\nexport const n = N;\nexport const theOtherOfThem = compute(1, 2, 3);',
  ],
  [
    'edit_file',
    { target_file: 'a.ts', code_edit: '// …' },
    'The apply model made the following changes to the file:\n\n```\n- const a = N;\n+ const b = 2;\n```\nEdit results in the following linter errors, please fix them:\nLine 12: Unexpected any, specify a different type for it',
  ],
  [
    'bash',
    { command: 'aider --message x' },
    'Applied edit to src/controllers/of/the/warehouse/stock_controller.ts\nApplied edit to src/controllers/of/the/warehouse/other_controller.ts\nApplied edit to src/controllers/of/the/warehouse/third_controller.ts\nCommit 1a2bN fix: the N',
  ],
];

test('that an edit was made, and what the editor finds then, is said each time', () => {
  for (const [tool, input, text] of CONFIRMATIONS)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const calls = ['1', '2', '3'].map((n) => ({ tool, input, text: text.replaceAll('N', n) }));
      sent('Mend it', calls, mode).forEach((out, at) => {
        assert.is(out, calls[at]!.text, `${tool} ${mode}`);
      });
    }
});

test('so it is in a long result, of which other lines are named', () => {
  const content = times(60, (n) => `export const value${n} = compute(${n}, 'some text of it');`);
  const text = (n: number): string =>
    [
      'The content was successfully saved to src/controllers/of/the/warehouse/a.ts.',
      '<final_file_content path="src/a.ts">',
      ...content.slice(0, 40),
      `export const edited = ${n};`,
      ...content.slice(40),
      '</final_file_content>',
      'New problems detected after saving the file:',
      '- [ts Error] Line 4: Cannot find the name of what was imported there',
      '- [ts Error] Line 9: Cannot find the name of what was imported here',
    ].join('\n');
  const calls = [1, 2].map((n) => ({
    tool: 'write_to_file',
    input: { path: 'src/a.ts', content: 'x' },
    text: text(n),
  }));
  const out = sent('Mend it', calls)[1]!;
  assert.match(out, /\[svc .*result 1/);
  assert.match(out, /^The content was successfully saved/);
  assert.match(out, 'export const edited = 2;');
  assert.match(out, 'Line 4: Cannot find');
  assert.match(out, 'Line 9: Cannot find');
});

const DIFF = (tail: string): string =>
  `commit 77aa77aa77aa77aa77aa77aa77aa77aa77aa77aa\nAuthor: A B <a@example.com>\n\n    Fix reads\n\ndiff --git a/src/pool.c b/src/pool.c\nindex 1111111..2222222 100644\n--- a/src/pool.c\n+++ b/src/pool.c\n@@ -100,7 +100,7 @@ static int pool_take(pool_t *p, size_t n)\n   slot_t *s = p->first;\n   uint8_t *end = p->base + p->size;\n   int flags = p->flags & 0x10;\n-  while (s && s->size < n && s->next != p->last_slot_that_was_used) s = s->next;\n+  while (s && s->size < n) s = s->next;\n   if (!s) return -1;\n   p->free -= n;\n   return 0;\n@@ -130,16 +130,16 @@ static int pool_give(pool_t *p, slot_t *s)\n   int last = p->count - 1;\n   for (int j = 0; j < last; j++) {\n-    if (p->slots[j].addr + sizeof(int32_t) > p->end_of_pool) {\n+    left -= sizeof(int32_t);\n+    if (left < 0) {\n       /* not enough room to read the size of the slot */\n       return -1;\n     }\n     int32_t bytes = read32(p->slots[j].addr);\n-    if (p->slots[j].addr + bytes > p->end_of_pool) {\n+    left -= bytes;\n+    if (left < 0) {\n       /* not enough room to read what the slot holds */\n       return -1;\n     }\n     total += bytes;\n   }\n   return total;\n${tail}`;

test('that an output was cut short is said each time', () => {
  const lines = times(80, (n) => `checked the part number ${n} of the shop, which took a while`);
  const text = (n: number): string =>
    `<returncode>0</returncode>\n<a>x</a>\n<b>y</b>\n<warning>\nThe output of your last command was too long.\nPlease try a different command that produces less output.\n</warning><output_head>\n${lines.join('\n')}\nend ${n}\n</output_head>`;
  const [, out] = sent('Check it', [bash('./check', text(1)), bash('./check', text(2))]);
  assert.match(out!, 'The output of your last command was too long.');
  assert.match(out!, /\[svc .*result 1/);
});

test('a reference counts lines of what was sent, and what a header says of them holds', () => {
  const calls = [
    bash('git show 77aa77aa 2>/dev/null | head -50', DIFF('')),
    bash(
      'git show 77aa77aa 2>/dev/null | head -80',
      DIFF(
        '@@ -300,6 +300,7 @@ void pool_free(pool_t *p)\n   if (!p) return;\n   lock(p);\n+  memset(p->base, 0, p->size);\n   free(p->base);\n   unlock(p);\n',
      ),
    ),
  ];
  for (const mode of ['hybrid', 'aggressive'] as const) {
    const [first, second] = sent('Find the commit', calls, mode);
    const seen = first!.split('\n').filter((line) => !line.startsWith('[svc '));
    for (const [, from, to] of second!.matchAll(/lines? (\d+)(?:[–-](\d+))? of result 1/g))
      for (let at = Number(from); at <= Number(to ?? from); at++)
        assert.ok(calls[1]!.text.includes(seen[at - 1]!), `${at}: ${seen[at - 1]}`);
    if (!second!.includes('all + and - lines kept')) continue;
    for (const line of calls[1]!.text.split('\n'))
      if (/^[+-](?![+-]{2})/.test(line)) assert.ok(second!.split('\n').includes(line), line);
  }
});

test('every error that a compiler states is there, whatever the budget of a log', () => {
  const compilers: readonly (readonly [string, string, (n: number) => string])[] = [
    [
      'make',
      'gcc',
      (n) =>
        `src/part${n % 7}.c:${n}:3: error: '${'abcdefgh'[n % 8]}name${n}' undeclared here\n   ${n} | int a = name${n};\n      |         ^~~~~~`,
    ],
    [
      'npx tsc',
      'tsc',
      (n) => `src/part${n % 7}.ts(${n},5): error TS2304: Cannot find name 'name${n}'.`,
    ],
    [
      'cargo build',
      'rustc',
      (n) =>
        `error[E0425]: cannot find value \`name${n}\` in this scope\n --> src/part${n % 7}.rs:${n}:5\n  |\n${n} | name${n}();\n  | ^^^^^ not found in this scope\n`,
    ],
    ['go build ./...', 'go', (n) => `./part${n % 7}.go:${n}:5: undefined: name${n}`],
    [
      'javac *.java',
      'javac',
      (n) =>
        `Part${n % 7}.java:${n}: error: cannot find symbol\n  symbol:   variable name${n}\n  location: class Part`,
    ],
    [
      'dotnet build',
      'csc',
      (n) =>
        `/app/Part${n % 7}.cs(${n},5): error CS0103: The name 'name${n}' does not exist in the current context [/app/a.csproj]`,
    ],
    [
      'mypy src',
      'mypy',
      (n) => `src/part${n % 7}.py:${n}: error: Name "name${n}" is not defined  [name-defined]`,
    ],
    ['npx eslint src', 'eslint', (n) => `  ${n}:5  error  'name${n}' is not defined  no-undef`],
    [
      'swift build',
      'swiftc',
      (n) => `/app/Sources/part${n % 7}.swift:${n}:5: error: cannot find 'name${n}' in scope`,
    ],
    [
      'gradle build',
      'kotlinc',
      (n) => `e: /app/src/Part${n % 7}.kt: (${n}, 5): Unresolved reference: name${n}`,
    ],
  ];
  for (const [command, name, error] of compilers)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const text = `building\nstep one of the build\n${times(200, (n) => `${error(n)}\n${times(3, (k) => `compiled the unit number ${n * 3 + k} of the project in ${k} ms`).join('\n')}`).join('\n')}\nbuild stopped\nafter 9 s\nmake: *** [all] Error 1`;
      const [out] = sent('Why does it not build?', [bash(command, text)], mode);
      const lost = Array.from({ length: 200 }, (_, n) => n).filter(
        (n) => !new RegExp(`name${n}\\b`).test(out!),
      );
      assert.equal(lost, [], `${name} ${mode}`);
    }
});

test('a line that is unlike its neighbours in a value alone stays', () => {
  const odd: readonly (readonly [string, (n: number) => string, string])[] = [
    [
      './serve',
      (n) => `GET /api/orders/${n * 7} 200 ${100 + ((n * 37) % 83)} ms`,
      'GET /api/orders/5 200 98765 ms',
    ],
    [
      './serve',
      (n) => `request ${n} took ${0.2 + (n % 9) / 10}s, wrote ${4000 + (n % 50)} bytes`,
      'request 77 took 812.5s, wrote 4011 bytes',
    ],
    [
      './report',
      (n) => `${1000 + n},part-${n % 40},2026-11-${10 + (n % 15)},${(20 + (n % 31)) / 2},EUR`,
      '2000,part-7,2026-11-11,-999999.99,EUR',
    ],
    ['./report', (n) => `${1000 + n}\tname ${n}\t${n % 5}\tok`, '1999\tname 999\t70000\tok'],
    [
      './poll',
      (n) => `poll ${n}: queue depth=${n % 4} status=200`,
      'poll 801: queue depth=2 status=507',
    ],
  ];
  for (const [command, usual, line] of odd)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const lines = times(1600, usual);
      lines.splice(803, 0, line);
      const [out] = sent('How did it go?', [bash(command, lines.join('\n'))], mode);
      assert.ok(out!.includes(line), `${mode} ${line}: ${out!.length}`);
    }
});

test('of lines that are equal but for figures the one stays in which another figure differs', () => {
  const stamp = (n: number): string =>
    `2026-11-28 10:${String(10 + (n % 50))}:${String(10 + (n % 49))} INFO `;
  const odd: readonly (readonly [(n: number) => string, string])[] = [
    [(n) => `host-${n} | rc=0 | changed`, 'host-4711 | rc=2 | changed'],
    [
      (n) => `copy ${n} digest 9f86d081884c7d659a2feaa0c55ad015`,
      'copy 4000 digest 9f86d081884c7d659a2feaa0c55ad016',
    ],
    [(n) => `host ${n} resolved to 10.0.0.7 port 443`, 'host 4000 resolved to 10.0.9.7 port 443'],
    [(n) => `node-${n} runs agent v2.4.1 (up)`, 'node-4000 runs agent v2.3.9 (up)'],
    [(n) => `job ${n} finished: exit 0`, 'job 4711 finished: exit 1'],
    [
      (n) => `sshd[${n}]: accepted key for deploy from 10.0.0.${n % 9} port ${n * 31}`,
      'sshd[4711]: accepted key for deploy from 203.0.113.9 port 4022',
    ],
    [(n) => `part-${n}@1.2.3 has peer 18.2.0`, 'part-4000@1.2.3 has peer 17.0.2'],
  ];
  for (const [usual, line] of odd)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const lines = times(1200, usual);
      lines.splice(603, 0, line);
      const text = lines.map((one, n) => stamp(n) + one).join('\n');
      const [out] = sent('How did it go?', [bash('./serve', text)], mode);
      assert.ok(out!.length < text.length / 4, line);
      assert.ok(out!.includes(line), `${mode} ${line}: ${out!.length}`);
    }
});

test('of a long log the lines stay that the question or the call names', () => {
  const lines = times(
    1600,
    (n) =>
      `2026-11-28 10:${10 + (n % 50)}:01 INFO worker-${n % 8} handled order ord-${(n * 7919).toString(16)} for customer ${n % 97}`,
  );
  const line = '2026-11-28 10:20:01 INFO worker-3 handled order ord-77fa1x for customer 12';
  lines.splice(803, 0, line);
  for (const [question, command] of [
    ['What happened to order ord-77fa1x?', 'cat app.log'],
    ['Look at the log', 'cat app.log # where is "ord-77fa1x"?'],
  ] as const)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const [out] = sent(question, [bash(command, lines.join('\n'))], mode);
      assert.ok(out!.length < 20_000, `${out!.length}`);
      assert.match(out!, 'ord-77fa1x');
    }
});

test('a list that was asked for, and each file that a formatter finds, stays whole however long', () => {
  const path = (n: number): string => `src/part-${n * 7}/of-the-shop.${['ts', 'js', 'md'][n % 3]}`;
  const lists: readonly (readonly [string, (n: number) => string])[] = [
    ['rsync -avn a/ b/', path],
    ['npm pack --dry-run', (n) => `npm notice ${n % 90}.1kB ${path(n)}`],
    ['make -n install', (n) => `install -m 644 ${path(n)} /usr/local/share/${path(n)}`],
    [
      'alembic history',
      (n) => `${(n * 7919).toString(16)} -> ${(n * 7927).toString(16)}, add part ${n}`,
    ],
    ['npx prettier --check .', (n) => `[warn] ${path(n)}`],
    ['black --check .', (n) => `would reformat ${path(n)}`],
  ];
  for (const [command, line] of lists)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const lines = times(600, line);
      const [out] = sent('What is in there?', [bash(command, lines.join('\n'))], mode);
      const seen = new Set(out!.split('\n'));
      assert.equal(
        lines.filter((one) => !seen.has(one)),
        [],
        `${command} ${mode}`,
      );
    }
  const [failed] = sent('Sync it', [
    bash(
      'rsync -avn a/ b/',
      `${times(600, path).join('\n')}\nrsync error: some files could not be transferred (code 23)`,
    ),
  ]);
  assert.match(failed!, 'svc omitted');
});

test('the source lines of a traceback stay', () => {
  const frames = times(
    30,
    (n) =>
      `  File "/srv/shop/app/part${n}.py", line ${10 + n}, in step${n}\n    return inner_${n}(request, limit=${n})`,
  );
  const text = `Traceback (most recent call last):\n${frames.join('\n')}\nValueError: bad: 12 apples`;
  for (const mode of ['hybrid', 'aggressive'] as const) {
    const [out] = sent('Why?', [bash('python3 shop.py', text)], mode);
    for (let n = 0; n < 30; n++) assert.match(out!, `return inner_${n}(request, limit=${n})`);
  }
});

test('a result is named by what its command does, not by a file in its message', () => {
  const lines = times(30, (n) => ` create mode 100644 src/parts/of/the/warehouse/part-${n}.ts`);
  const [, out] = sent('Commit it', [
    bash('git commit -m "Mend pool.c and a.ts"', lines.join('\n')),
    bash('git show --stat', [...lines.slice(5, 28), 'one more', 'and another'].join('\n')),
  ]);
  assert.not.match(out!, /result 1 \((?:pool\.c|a\.ts)/);
});

test.run();
