import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeLog, times } from '../../../../fixtures/compress/texts.ts';
import { builtIn } from '../built-in.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { passedLines } from './passed-tests.ts';

const expectErrors = (name: string, n: number): readonly string[] => [
  `=== RUN   ${name}`,
  `=== RUN   ${name}/broken_${n}`,
  `    wire_test.go:${100 + n}: ERROR: expected failure: cannot parse ${n * 7919}: unexpected EOF`,
  `    wire_test.go:${200 + n}: panic: invalid frame ${n * 31} as expected`,
  `--- PASS: ${name} (0.0${n % 10}s)`,
  `    --- PASS: ${name}/broken_${n} (0.00s)`,
];

test('assigns output to the passed test that printed it, in subtests and in the old order too', () => {
  const lines = [
    'ok so far',
    ...expectErrors('TestA', 1),
    '=== RUN   TestB',
    '    b_test.go:3: ERROR: wrong',
    '--- FAIL: TestB (0.00s)',
    '    b_test.go:9: got 3',
    '--- PASS: TestOld (0.00s)',
    '    old_test.go:4: error: as it should be',
    'PASS',
    '    not indented by a test',
    '=== RUN   TestOpen',
  ];
  assert.equal([...passedLines(lines)], [1, 2, 3, 4, 5, 6, 12]);
});

test('prefers a failed test to errors that passed tests expected', () => {
  const failed = [
    '• [FAILED] [1.014 seconds]',
    'Cache [It] should evict the oldest',
    '/w/cache_test.go:645',
    '',
    '  [FAILED] Timed out after 1.001s.',
    '  Expected',
    '      <int>: 3',
    '  to equal',
    '      <int>: 4',
    '  In [It] at: /w/cache_test.go:661',
  ];
  const text = [
    ...failed,
    ...times(160, (n) => expectErrors(`TestWire${n}`, n).join('\n')),
    'FAIL\texample.test/cache\t185.245s',
    'make: *** [Makefile:46: test.ci] Error 1',
  ].join('\n');
  const out = builtIn.apply(text, makeLog(1200)).text;
  assert.ok(estimateTokens(out) <= 1200);
  for (const line of failed) assert.ok(out.includes(line), line);
});

test('prefers the lines shortly before the last failure to commands elsewhere', () => {
  const word = (n: number) => `${'klmnopqrst'[n % 10]}${'uvwxyzklmn'[Math.floor(n / 10)]}o`;
  const step = (n: number) =>
    [
      `##[group]Run ${word(n)} step of the workflow`,
      `[command]/usr/bin/${word(n)} config --local --get ${word(n)}.path --show-origin`,
    ].join('\n');
  const text = [
    ...times(60, step),
    'This project formats all of its code.',
    'Please format it before committing.',
    '',
    'These files are not formatted:',
    '',
    'src/alpha/beta.ts',
    'src/gamma/delta.ts',
    'error Command failed with exit code 1.',
    '',
    '##[error]Process completed with exit code 1.',
    ...times(30, (n) => step(60 + n)),
  ].join('\n');
  const out = builtIn.apply(text, makeLog(700)).text;
  for (const line of ['This project formats all', 'Please format', 'src/alpha/beta.ts'])
    assert.ok(out.includes(line), line);
});

test.run();
