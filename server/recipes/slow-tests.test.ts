/** The bundled recipes keep a passing test that took far longer than the others, with its name. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { outcomeOf } from '../../fixtures/compress/recipe-outcome.ts';

const SLOW = 60;
const TESTS = 110;

const lines = (line: (n: number, isSlow: boolean) => string): string =>
  Array.from({ length: TESTS }, (_, n) => line(n, n === SLOW)).join('\n');

/** The command, its output, the recipe for it, and what must remain readable. */
const RUNS: readonly (readonly [
  command: string,
  recipe: string,
  text: string,
  kept: readonly string[],
])[] = [
  [
    'go test -v ./...',
    'go-test',
    `${lines((n, slow) => `=== RUN   TestTide${n}\n--- PASS: TestTide${n} (${slow ? '58.31' : '0.03'}s)`)}\nPASS\nok  \texample.org/tide\t61.204s\n`,
    ['--- PASS: TestTide60 (58.31s)'],
  ],
  [
    'npx jest --verbose',
    'jest',
    `PASS src/tide.test.js\n${lines((n, slow) => `  ✓ holds ${n} (${slow ? '9.12 s' : '4 ms'})`)}\n\nTest Suites: 1 passed, 1 total\nTests:       110 passed, 110 total\n`,
    ['✓ holds 60 (9.12 s)'],
  ],
  [
    'npx mocha',
    'mocha',
    `\n  Tide\n${lines((n, slow) => `    ✔ holds ${n}${slow ? ' (2140ms)' : ''}`)}\n\n\n  110 passing (3s)\n`,
    ['✔ holds 60 (2140ms)'],
  ],
  [
    'npx vitest run --reporter=verbose',
    'vitest',
    `\n RUN  v4.1.12 /w\n\n${lines((n, slow) => ` ✓ tide.test.ts > holds ${n} ${slow ? 19003 : 3}ms`)}\n\n Test Files  1 passed (1)\n      Tests  110 passed (110)\n`,
    ['holds 60 19003ms'],
  ],
  [
    'ctest',
    'ctest',
    `Test project /b\n${lines((n, slow) => `      Start ${n}: t${n}\n${n}/110 Test #${n}: t${n} ..............   Passed   ${slow ? '88.20' : ' 0.01'} sec`)}\n\n100% tests passed, 0 tests failed out of 110\n`,
    ['Test #60: t60 ..............   Passed   88.20 sec'],
  ],
  [
    'node --test',
    'node-test',
    `${lines((n, slow) => `✔ holds ${n} (${slow ? '41200.5' : '0.25'}ms)`)}\nℹ tests 110\nℹ pass 110\nℹ fail 0\n`,
    ['✔ holds 60 (41200.5ms)'],
  ],
  [
    'node --test --test-reporter=tap',
    'tap',
    `TAP version 13\n${lines((n, slow) => `# Subtest: holds ${n}\nok ${n} - holds ${n}\n  ---\n  duration_ms: ${slow ? '41200.5' : '0.25'}\n  ...`)}\n1..110\n# tests 110\n# pass 110\n# fail 0\n`,
    ['ok 60 - holds 60', 'duration_ms: 41200.5'],
  ],
  [
    'node --test --test-reporter=junit',
    'junit',
    `<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n${lines((n, slow) => `\t<testcase name="holds ${n}" time="${slow ? '41.2005' : '0.00025'}" classname="test"/>`)}\n</testsuites>\n`,
    ['<testcase name="holds 60" time="41.2005"'],
  ],
];

for (const [command, recipe, text, kept] of RUNS) {
  test(`keeps a slow passed test in the output of ${command}`, async () => {
    const { sent, by } = await outcomeOf(text, command, 'hybrid');
    assert.ok(
      by?.some((one) => one.includes(recipe)),
      `${recipe} acted`,
    );
    for (const part of kept) assert.ok(sent.includes(part), `${part} stays`);
    assert.ok(sent.length < text.length / 2, 'the others go');
  });
}

test.run();
