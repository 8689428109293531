/**
 * The final lines of tools: more than 240 outputs of tools run on one machine, in
 * `fixtures/tool-logs.jsonl.gz`. Whatever else is changed in them, their end is kept verbatim, the
 * first time and when the same command prints the same again.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LOG_ENDINGS } from '../../../../fixtures/compress/log-endings.ts';
import { times } from '../../../../fixtures/compress/texts.ts';
import { fixturePath } from '../../../../fixtures/paths.ts';
import { estimateTokens } from '../../../model/tokens.ts';
import { compressConversation, type BlockOutcome } from '../../pass/conversation.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { cleanLine } from './clean.ts';
import { endingLines } from './ending-lines.ts';

interface ToolLog {
  readonly tool: string;
  readonly command: string;
  readonly text: string;
}

const LOGS = gunzipSync(readFileSync(fixturePath('tool-logs.jsonl.gz')))
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as ToolLog);

/** Totals printed by the test runners among these tools; independent of the tested patterns. */
const TOTALS: Readonly<Record<string, RegExp>> = {
  unittest: /^(?:Ran \d+ tests? in|OK$|FAILED \()/,
  pytest: /^(?:=+ )?(?:\d+ (?:passed|failed)).* in [\d.]+s/,
  'node --test': /^(?:#|ℹ) (?:tests|pass|fail) \d/,
  uvu: /^ {2}(?:Total|Passed|Skipped): +\d/,
  oxlint: /^Found \d+ warnings? and \d+ errors?/,
  tsc: /^exit code \d/,
  make: /^exit status \d/,
  gcc: /^exit status \d/,
  php: /^(?:Errors parsing|No syntax errors)/,
  ninja: /^ninja: /,
  ctest: /^\d+% tests passed/,
  javac: /^(?:\d+ (?:errors?|warnings?)$|exit code \d)/,
  cargo: /^(?:test result: |exit code \d)/,
  prove: /^(?:Files=|Result: )/,
  mvn: /^\[INFO\] (?:BUILD|Total time)/,
  git: /^(?: \d+ files? changed|\[\S+ (?:\(root-commit\) )?[0-9a-f]{7,}\])/,
  'apt-get': /^\d+ upgraded, \d+ newly installed/,
  npm: /^(?: {2}(?:Total|Passed|Skipped): +\d|exit code \d)/,
};

/**
 * How these runners name failed tests, each name in a group; independent of the tested patterns.
 */
const NAMES: Readonly<Record<string, RegExp>> = {
  pytest: /^(?:FAILED|ERROR) (\S+)/,
  unittest: /^(?:FAIL|ERROR): (\S+)/,
  nose2: /^(?:FAIL|ERROR): (\S+)/,
  jest: /^ {2}● (.*)/,
  vitest: /^ FAIL {2}(.*)/,
  mocha: /^ {2,}\d+\) (.*)|^not ok \d+ (.*)/,
  'node --test': /^\s*not ok \d+ - (.*)|^\s*✖ (.*?)(?: \(|$)/,
  jasmine: /^\d+\) (.*)/,
  tape: /^not ok \d+ (.*)/,
  ava: /^ {2}✘ \[fail\]: (.*)|^not ok \d+ - (.*)/,
  go: /^\s*--- FAIL: (\S+)/,
  cargo: /^test (\S+) \.\.\. FAILED/,
  ctest: /^\s*\d+ - (\S+) \(Failed\)/,
  rspec: /^rspec (\S+)/,
  minitest: /^(\w+#test_\w+) \[/,
  phpunit: /^\d+\) (\S+)| ✘ (.*)/,
  prove: /^#\s+Failed test '(.*)'/,
  bats: /^not ok \d+ (.*)|^ ✗ (.*)/,
  mix: /^ {2}\d+\) test (.*)/,
  busted: /^Failure -> (.*)|^\[ {2}FAILED {2}\] (.*?)(?: \(|$)|^not ok \d+ - (.*)/,
  behave: /^ {2}(\S+\.feature:\d+)/,
};

function failedNames({ tool, text }: ToolLog): readonly string[] {
  const pattern = NAMES[tool];
  if (pattern === undefined) return [];
  const names = text.split('\n').flatMap((line) => {
    const [, ...groups] = pattern.exec(cleanLine(line)) ?? [];
    const name = groups.find((group) => group !== undefined)?.trim();
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)];
}

/** Returns the same result twice, each as sent. */
function twice(
  { command, text }: Pick<ToolLog, 'command' | 'text'>,
  logBudgetTokens = 3500,
): readonly BlockOutcome[] {
  const block = (index: number): ConversationBlock => ({
    index,
    role: 'tool',
    kind: 'tool_result',
    message: index,
    text,
    toolName: 'Bash',
    toolInput: { command },
  });
  return compressConversation([block(0), block(1)], {
    mode: 'hybrid',
    maxChars: 120,
    thresholdTokens: 0,
    logBudgetTokens,
  });
}

/**
 * Returns the lines that must be kept: the last three, and all totals; identical ones count once.
 */
function endsOf({ tool, text }: ToolLog): readonly string[] {
  const lines = text
    .split('\n')
    .map(cleanLine)
    .filter((line) => line.trim() !== '');
  const pattern = TOTALS[tool];
  const totals = pattern === undefined ? [] : lines.filter((line) => pattern.test(line));
  return [...new Set([...lines.slice(-3), ...totals])];
}

test('has enough logs, of enough tools', () => {
  assert.ok(LOGS.length >= 240, `${LOGS.length}`);
  assert.ok(new Set(LOGS.map(({ tool }) => tool)).size >= 35);
});

test('keeps the final lines of every tool unchanged, at first and when repeated', () => {
  const missing: string[] = [];
  let shrunk = 0;
  for (const [at, log] of LOGS.entries()) {
    for (const [turn, outcome] of twice(log).entries()) {
      shrunk += outcome.changed ? 1 : 0;
      const texts = new Set(outcome.text.split('\n').map(cleanLine));
      for (const line of endsOf(log))
        if (!texts.has(line))
          missing.push(
            `${at} ${log.tool}, time ${turn + 1} (${outcome.classification?.kind}, ${outcome.by.join()}): ${line.slice(0, 90)}`,
          );
    }
  }
  assert.equal(missing.slice(0, 40), []);
  assert.ok(shrunk > LOGS.length / 4, `${shrunk}`);
});

test('keeps the name of every failed test, at first and when repeated', () => {
  const missing: string[] = [];
  let names = 0;
  for (const [at, log] of LOGS.entries()) {
    const failed = failedNames(log);
    names += failed.length;
    for (const [turn, { text }] of failed.length === 0 ? [] : twice(log).entries()) {
      const lines = text.split('\n').map(cleanLine);
      for (const name of failed)
        if (!lines.some((line) => line.includes(name)))
          missing.push(`${at} ${log.tool}, time ${turn + 1}: ${name}`);
    }
  }
  assert.equal(missing.slice(0, 40), []);
  assert.ok(names > 400, `${names}`);
});

test('keeps the last of hundreds of failed test names, with room for the failure messages', () => {
  const names = times(400, (n) => `FAILED tests/test_part.py::test_case_${n} - AssertionError`);
  const why = times(400, (n) => `E       assert total(${n}) == ${n + 1}`);
  const end = '400 failed, 3 passed in 4.20s';
  const text = [...why, ...names, end].join('\n');
  const [first, again] = twice({ command: 'pytest', text });
  for (const { text: out } of [first!, again!]) {
    const lines = out.split('\n');
    assert.ok(lines.includes(end));
    assert.ok(lines.filter((line) => names.includes(line)).length >= 20);
    assert.ok(lines.includes(names.at(-1)!));
  }
  assert.ok(first!.text.split('\n').some((line) => why.includes(line)));
  assert.ok(estimateTokens(again!.text) < 2000, `${estimateTokens(again!.text)}`);
});

test('keeps the totals of every tool wherever they are, at first and when repeated', () => {
  const missing: string[] = [];
  for (const { tool, command, progressLine, totals } of LOG_ENDINGS) {
    const noise = times(12, (n) => `note ${n}: see the handbook, chapter ${n}`);
    const text = [...times(400, progressLine), '', ...totals, '', ...noise].join('\n');
    for (const [turn, outcome] of twice({ command, text }, 1200).entries()) {
      const texts = new Set(outcome.text.split('\n').map(cleanLine));
      for (const line of totals)
        if (!texts.has(line)) missing.push(`${tool}, time ${turn + 1}: ${line.slice(0, 90)}`);
    }
  }
  assert.equal(missing, []);
  assert.ok(new Set(LOG_ENDINGS.map(({ tool }) => tool)).size >= 45);
});

test('keeps a long last line whole if it fits into half of the budget', () => {
  const archive = `ar rcs lib.a ${times(120, (n) => `src/account_${n}.o`).join(' ')}`;
  const text = [...times(600, (n) => `[${n}/600] Compiling src/account_${n}.c`), archive].join(
    '\n',
  );
  const [out] = compressConversation(
    [{ index: 0, role: 'tool', kind: 'tool_result', text, toolInput: { command: 'make' } }],
    { mode: 'hybrid', maxChars: 120, thresholdTokens: 0, logBudgetTokens: 2500 },
  );
  assert.ok(estimateTokens(archive) > 2500 / 4);
  assert.ok(out!.by.includes('log-reduce'));
  assert.is(out!.text.split('\n').at(-1), archive);
});

test('keeps the last few of equal totals, and all of different ones', () => {
  const lines = [
    'a',
    'b',
    'c',
    'PASS',
    'PASS',
    'PASS',
    'PASS',
    'PASS',
    'Ran 3 tests in 1s',
    'Ran 4 tests in 1s',
    'x',
    'y',
    'z',
  ];
  assert.equal(
    [...endingLines(lines)].toSorted((a, b) => a - b),
    [0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12],
  );
});

test('does not count a line that only sets a colour as a final line', () => {
  const lines = ['\u001b[1mpart\u001b[0m', '\u001b[39m', 'b', 'c', 'd', 'x', 'y', '\u001b[0m', 'z'];
  assert.equal(
    [...endingLines(lines)].toSorted((a, b) => a - b),
    [0, 2, 3, 5, 6, 8],
  );
});

test.run();
