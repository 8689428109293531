/**
 * Blocks that must always reach the model: each of a kind from real sessions, in words of our own.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { times } from '../../../fixtures/compress/texts.ts';
import { bash, sentFor as sent } from '../../../fixtures/compress/compress-calls.ts';

const FILLER = times(
  14,
  (n) =>
    `The ${n}th matter of the harbour is told at some length by those who came by boat, and nobody wrote down when.`,
);

test('judges relevance in search results and fetched pages by the query of the call', () => {
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

/** Confirmations of edits by various agents; `N` differs between edits. */
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

test('keeps every confirmation of an edit, and the problems that the editor reports after it', () => {
  for (const [tool, input, text] of CONFIRMATIONS)
    for (const mode of ['hybrid', 'aggressive'] as const) {
      const calls = ['1', '2', '3'].map((n) => ({ tool, input, text: text.replaceAll('N', n) }));
      sent('Mend it', calls, mode).forEach((out, at) => {
        assert.is(out, calls[at]!.text, `${tool} ${mode}`);
      });
    }
});

test('keeps confirmations in a long result whose other lines become references', () => {
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

test('keeps every notice that an output was truncated', () => {
  const lines = times(80, (n) => `checked the part number ${n} of the shop, which took a while`);
  const text = (n: number): string =>
    `<returncode>0</returncode>\n<a>x</a>\n<b>y</b>\n<warning>\nThe output of your last command was too long.\nPlease try a different command that produces less output.\n</warning><output_head>\n${lines.join('\n')}\nend ${n}\n</output_head>`;
  const [, out] = sent('Check it', [bash('./check', text(1)), bash('./check', text(2))]);
  assert.match(out!, 'The output of your last command was too long.');
  assert.match(out!, /\[svc .*result 1/);
});

test('numbers references by the lines that were sent, and keeps what the header promises', () => {
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

test('keeps every error that a compiler reports, whatever the log budget', () => {
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

test('keeps a line that differs from its neighbours only in an outlying value', () => {
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

test('keeps the source lines of a traceback', () => {
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

test('labels a result with its command, not with a file named in a commit message', () => {
  const lines = times(30, (n) => ` create mode 100644 src/parts/of/the/warehouse/part-${n}.ts`);
  const [, out] = sent('Commit it', [
    bash('git commit -m "Mend pool.c and a.ts"', lines.join('\n')),
    bash('git show --stat', [...lines.slice(5, 28), 'one more', 'and another'].join('\n')),
  ]);
  assert.not.match(out!, /result 1 \((?:pool\.c|a\.ts)/);
});

test.run();
