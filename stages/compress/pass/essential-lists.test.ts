/**
 * Parts of lists and logs that must reach the model: each finding, an error's further lines,
 * pauses, counts.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { times } from '../../../fixtures/compress/texts.ts';
import { bash, sentFor as sent } from '../../../fixtures/compress/compress-calls.ts';

const MODES = ['hybrid', 'aggressive'] as const;

/** Commands that check code, and the text that identifies finding `n`. */
const FINDINGS: readonly (readonly [command: string, finding: (n: number) => string])[] = [
  [
    'cd web && npx pyright',
    (n) =>
      `  /app/p${n % 9}.py:${n}:5 - error: Argument of type "A" is not assignable to "B"\n    "name${n}" is missing in "A" (reportArgumentType)`,
  ],
  ['ruff check .', (n) => `F821 Undefined name \`name${n}\`\n --> src/p.py:${n}:5\n  |\n${n} | x`],
  ['bundle exec rubocop', (n) => `app/p.rb:${n}:5: C: [Correctable] Style/Quotes: name${n}.`],
  ['vendor/bin/phpstan analyse', (n) => `/app/src/P.php:${n}:Call to undefined method name${n}().`],
  [
    'shellcheck a.sh | head -900',
    (n) => `In a.sh line ${n}:\necho $name${n}\n     ^-- SC2086 (info)`,
  ],
  ['ktlint', (n) => `/app/src/P.kt:${n}:5: Unexpected name${n} (standard:no-imports)`],
  [
    'npx oxlint',
    (n) => `  × eslint(no-unused-vars): 'name${n}' is never used.\n   ╭─[p.ts:${n}:5]`,
  ],
  [
    'npx eslint .',
    (n) => `/app/p${n}.ts\n  ${n}:5  warning  'name${n}' is never used  no-unused-vars\n`,
  ],
  ['pylint src', (n) => `src/p.py:${n}:5: W0612: Unused variable 'name${n}' (unused-variable)`],
  ['cargo clippy', (n) => `warning: unused variable: \`name${n}\`\n --> src/p.rs:${n}:5\n  |`],
  ['npm audit', (n) => `name${n}  <=1.2.${n}\nSeverity: high\nnode_modules/name${n}\n`],
  [
    'terraform validate',
    (n) => `│ Error: Unsupported argument\n│   on main.tf line ${n}:\n│   name${n} = 1`,
  ],
  ['npm run lint', (n) => `p.ts:${n}:5 lint/useConst\n  × name${n} is never reassigned.\n`],
];

test('keeps every finding of a linter, type checker or scanner, up to thousands', () => {
  for (const [command, finding] of FINDINGS)
    for (const mode of MODES) {
      const [out] = sent(
        'What is there to mend?',
        [bash(command, times(90, finding).join('\n'))],
        mode,
      );
      for (let n = 0; n < 90; n++) assert.match(out!, new RegExp(`\\bname${n}\\b`), command);
    }
  const many = times(9000, (n) => `app/p.rb:${n}:5: C: Style/Quotes: name${n}.`).join('\n');
  const [out] = sent('What is there to mend?', [bash('rubocop', many)]);
  assert.match(out!, 'svc omitted');
});

test('keeps the detail lines below the line that states an error', () => {
  const errors: readonly ((n: number) => string)[] = [
    (n) =>
      `src/p.ts(${n},5): error TS2741: Type 'A' is no 'B'.\n  Property 'name${n}' is missing in type 'A'.`,
    (n) =>
      `src/p.ts:${n}:5 - error TS2322: Type 'A' is no 'B'.\n  Types of property 'x' differ.\n    'name${n}' is missing.`,
    (n) => `  /app/p.py:${n}:5 - error: "A" is no "B"\n    "name${n}" is missing (reportX)`,
    (n) =>
      `app/p.py:${n}: error: Incompatible type  [arg-type]\napp/p.py:${n}: note: "name${n}" is invariant`,
  ];
  for (const error of errors)
    for (const mode of MODES) {
      const text = `building\nstep one\n${times(90, (n) => `${error(n)}\nbuilt unit ${n} in ${n} ms`).join('\n')}\nstopped\nafter 9 s`;
      const [out] = sent('Why does it not build?', [bash('make', text)], mode);
      for (let n = 0; n < 90; n++) assert.match(out!, new RegExp(`\\bname${n}\\b`), error(n));
    }
});

test('keeps the lines on both sides of a time gap or a sequence gap in a long log', () => {
  const two = (n: number): string => String(n).padStart(2, '0');
  const clock = (s: number): string =>
    `${two(Math.floor(s / 3600))}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  const logs: readonly (readonly [(n: number) => string, readonly number[]])[] = [
    [
      (n) =>
        `2026-11-28 ${clock(36_000 + n * 10 + (n > 90 ? 3600 : 0))} heartbeat of web-${n % 3} ok`,
      [90, 91],
    ],
    [
      (n) => `[${clock(36_000 + n + (n > 800 ? 900 : 0))}] part ${(n * 7919) % 997} was read`,
      [800, 801],
    ],
    [
      (n) => `received seq=${n > 443 ? n + 1 : n} of the stream with ${(n * 31) % 97} bytes`,
      [443, 444],
    ],
  ];
  for (const [line, ends] of logs)
    for (const mode of MODES) {
      const lines = times(1600, line);
      const [out] = sent('Is all well?', [bash('cat app.log', lines.join('\n'))], mode);
      assert.ok(out!.length < lines.join('\n').length / 4);
      for (const at of ends)
        assert.ok(out!.includes(lines[at]!.slice(-28)), `${mode} ${lines[at]}`);
    }
});

test('keeps the lines that contain a status code or abbreviation from the question', () => {
  const lines = times(1600, (n) => `10:00:0${n % 10} GET /orders/${n} 200 in ${n % 9} ms`);
  lines[700] = '10:00:01 GET /orders/700 503 in 4 ms';
  lines[703] = '10:00:01 GET /orders/703 503 in 5 ms';
  lines[900] = '10:00:01 the kernel reports OOM for worker 3 of 8';
  const text = lines.join('\n');
  for (const mode of MODES) {
    const [out] = sent('Where do the 503 come from?', [bash('cat app.log', text)], mode);
    assert.match(out!, '/orders/700 503');
    assert.match(out!, '/orders/703 503');
    const [killed] = sent('Was there an OOM?', [bash('cat app.log', text)], mode);
    assert.match(killed!, 'OOM for worker 3');
  }
});

test('keeps counts beside their files', () => {
  const text = times(
    60,
    (n) => `src/part${n % 6}/file-${n}.ts:${n === 41 ? 912 : 1 + (n % 5)}`,
  ).join('\n');
  for (const mode of MODES)
    assert.match(sent('Which has most?', [bash('rg -c limit', text)], mode)[0]!, 'file-41.ts:912');
});

test.run();
