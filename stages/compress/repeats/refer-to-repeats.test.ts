/** Parts of a result that stay verbatim although they were sent before, through the whole pass. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withoutColours } from '../../model/classify/colours.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import { compressConversation } from '../pass/conversation.ts';
import { CONVERSATION, SOURCE, times } from '../../../fixtures/compress/texts.ts';

/** Returns what is sent for the results of consecutive shell commands. */
function results(runs: readonly (readonly [command: string, text: string])[]): readonly string[] {
  const blocks = runs.map(([command, text], index): ConversationBlock => ({
    index,
    role: 'user',
    kind: 'tool_result',
    text,
    toolName: 'bash',
    toolInput: { command },
  }));
  return compressConversation(blocks, CONVERSATION).map(({ text }) => text);
}

test('keeps the notice of a harness above a result, even if it repeats an earlier one', () => {
  const advice = [
    'Please try a different command that produces less output.',
    'If you need all of it you can write it into a file, and search in that file for what matters.',
    'If you search and find too much then a narrower pattern helps more often than not.',
  ];
  const lines = ['<returncode>0</returncode>', '<warning>', 'The output of your command is cut.'];
  const wrapped = (body: string): string =>
    [...lines, ...advice, '</warning><output>', body, '</output>'].join('\n');
  const other = SOURCE.replaceAll('load', 'read');
  const out = results([
    ['cat a.ts', wrapped(SOURCE)],
    ['cat b.ts', wrapped(other)],
    ['sed -n 1,80p a.ts', wrapped(`${SOURCE}\n`)],
  ]);
  for (const text of out) assert.equal(text.split('\n').slice(0, 3), lines);
  assert.match(out[2]!, 'of result 1 (a.ts) again]');
});

test('keeps the names of failed tests in a repeated run, despite colour codes', () => {
  const esc = '\u001b';
  const failed = (name: string) =>
    `  ${esc}[1m${esc}[41m FAIL ${esc}[22m${esc}[49m ${esc}[2m"${esc}[22m${esc}[31m${name}${esc}[39m${esc}[2m"${esc}[22m`;
  const names = [failed('parses the last line'), failed('counts blank ones')];
  const run = [
    `${esc}[1mparser.test.ts${esc}[22m`,
    times(40, (n) => `• part ${n} of the long suite, which has many parts`),
    ...names.map((name) => `${name}\n    Expected values to be equal:\n        ++2\n        --1`),
    times(20, (n) => `    in step ${n} of what the runner says about it`),
    '  Total:     62',
    '  Passed:    60',
    '  Skipped:   0',
  ].join('\n');
  const [, again] = results([
    ['npx uvu', run],
    ['npx uvu', run],
  ]);
  assert.match(again!, 'of result 1 (npx uvu)');
  const plain = withoutColours(again!);
  for (const name of ['parses the last line', 'counts blank ones'])
    assert.match(plain, `FAIL  "${name}"`);
});

test('keeps a failure in a short result, even if an earlier run had it too', () => {
  const failures = [
    "src/theme.ts(5,15): error TS2305: Module 'terminal' has no exported member 'EditorTheme'.",
    "src/theme.ts(9,15): error TS2305: Module 'terminal' has no exported member 'MarkdownTheme'.",
  ];
  const steps = times(
    6,
    (n) => `> building the package number ${n} of all that are in this folder`,
  );
  const before = [...times(30, (n) => `one ${n}`), ...steps, ...failures, 'end of the first run'];
  const later = ['a', 'b', 'c', ...steps, 'new', ...failures, 'd', 'e', 'f'];
  const out = results([
    ['npm run build', before.join('\n')],
    ['npm run build', later.join('\n')],
  ])[1]!;
  assert.match(out, '[svc ');
  for (const line of failures) assert.ok(out.includes(line), out);
});

test('keeps a repeated warning in a short result, because a rerun often checks whether it is gone', () => {
  const warnings = [
    '/app/docs/index.rst:4: WARNING: toctree contains reference to nonexisting document "genindex"',
    'src/parse.c:12:9: warning: unused variable "state" left behind by the last change of all',
    'npm warn deprecated inflight@1.0.6: this module is not supported, and leaks memory as it runs',
  ];
  const steps = times(8, (n) => `step ${n} of the build that writes the pages of this project`);
  const run = (end: string): string => [...steps, ...warnings, ...steps.slice(3), end].join('\n');
  const out = results([
    [
      'make docs',
      [...times(30, (n) => `one ${n}`), run('build succeeded, 3 warnings.')].join('\n'),
    ],
    ['make docs', run('build succeeded after all, 3 warnings.')],
  ])[1]!;
  assert.match(out, '[svc ');
  for (const line of warnings) assert.ok(out.includes(line), out);
});

test('leaves a short result whole if less than a fifth of it would remain', () => {
  const shown = (from: number, to: number): string => SOURCE.split('\n').slice(from, to).join('\n');
  const shownWith = (tail: string): string => `${shown(40, 58)}\n${tail}`;
  const few = times(2, (n) => `new line ${n}`).join('\n');
  const some = times(9, (n) => `line ${n} of others`).join('\n');
  const command = (from: number): string => `sed -n ${from},99p a.ts`;
  const out = results([
    ['cat a.ts', SOURCE],
    [command(41), shownWith(few)],
    [command(42), shownWith(some)],
  ]);
  assert.is(out[1], shownWith(few));
  assert.match(out[2]!, '[svc lines 41–58 of result 1 (a.ts) again]');
});

test('puts a count of equal lines below the line that it counts, never below a reference', () => {
  const group = [
    ...times(5, (n) => `DEBUG: join number ${n} of a table with a rather long name in this test`),
    ...times(12, () => 'DEBUG: join of the table that comes last in each round of this test'),
  ];
  const rounds = times(6, (n) => [`round ${n} of those`, ...group].join('\n')).join('\n');
  const [out] = results([['python trace.py', rounds]]);
  assert.match(out!, '[svc lines 2–6 of this text again]');
  const lines = out!.split('\n');
  const counted = lines.filter((_, at) => lines[at + 1]?.startsWith('[svc the line above 11 more'));
  assert.equal(
    counted,
    times(6, () => group.at(-1)!),
  );
});

test('lets a reference span a count of equal lines, and includes them in its line numbers', () => {
  const steps = (name: string): string[] =>
    times(24, (n) => `> ${name} the module number ${n} of the many that this shop has`);
  const cloned = times(6, () => 'Cloning the database for one more of the processes');
  const run = (first: string): string =>
    [first, ...steps('checked'), ...cloned, ...steps('built'), 'a', 'b', 'c'].join('\n');
  const out = results([
    ['make check', run('The first run of all begins here')],
    ['make check', run('Another run, which comes second')],
  ]);
  assert.match(out[0]!, '[svc the line above 5 more times]');
  assert.match(out[1]!, '[svc lines 4–55 of result 1 (make check) again]');
});

test('keeps the notice of a harness below a result, even if it repeats an earlier one', () => {
  const reminder = [
    '<system-reminder>',
    'Whenever you open a file of this project, ask yourself whether it may be changed at all. If it is not yours then you must not touch it, but you may still say what is in it.',
    '</system-reminder>',
  ].join('\n');
  const numbered = (from: number): string =>
    times(80, (n) => `${String(from + n).padStart(6)}\tconst item${from + n} = make();`).join('\n');
  const out = results([
    ['cat -n a.ts', `${numbered(1)}\n\n${reminder}\n`],
    ['cat -n b.ts', `${numbered(700)}\n\n${reminder}\n`],
    ['cat -n a.ts', `${numbered(1)}\n\n${reminder}\n`],
  ]);
  for (const text of out) assert.match(text, reminder);
  assert.match(out[2]!, 'again]');
});

test('keeps the name and the failure message of a failed test unchanged', () => {
  const trace = times(
    9,
    (n) => `  File "/opt/python/lib/unittest/case.py", line ${n + 500}, in a_method_of_the_runner`,
  );
  const failure = (n: number): string =>
    [
      '='.repeat(60),
      `FAIL: test_case_${n} (queries.tests.JoinTests)`,
      '-'.repeat(60),
      'Traceback (most recent call last):',
      ...trace,
      `  File "/app/tests.py", line ${n * 40}, in test_case_${n}`,
      '    self.assertEqual(str(query).count("JOIN"), 1)',
      ...trace.map((frame) => `${frame.slice(0, -6)}assertion`),
      `AssertionError: ${n % 2} != 1`,
      '',
    ].join('\n');
  const run = ['Found 12 tests.', ...times(8, failure), 'Ran 12 tests in 0.4s', '', 'FAILED'];
  const [out] = results([['python runtests.py', run.join('\n')]]);
  assert.match(out!, '[svc this text, lines');
  const shown = out!.split('\n').filter((line) => /^(?:FAIL:|AssertionError)/.test(line));
  assert.equal(
    shown,
    Array.from({ length: 8 }, (_, n) => n).flatMap((n) => [
      `FAIL: test_case_${n} (queries.tests.JoinTests)`,
      `AssertionError: ${n % 2} != 1`,
    ]),
  );
});

test.run();
