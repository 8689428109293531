import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readFileSync } from 'node:fs';
import { projectRoot } from '../../fixtures/paths.ts';
import {
  compressConversation,
  emptyState,
  type ConversationState,
} from '../../stages/compress/pass/conversation.ts';
import type { ConversationBlock } from '../../stages/compress/pass/blocks.ts';
import { keptLines } from '../../stages/compress/decode/kept-lines.ts';
import { knownLines, strangeLines } from './kept-lines.ts';
import { codeFiles, editSamples, grepSamples, listingSamples, spread } from './samples.ts';
import { restoreReferences } from '../../stages/compress/decode/decoders.ts';

const OPTIONS = {
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 0,
  logBudgetTokens: 800,
} as const;

/**
 * Returns a traceback of `depth` frames, most of them neither outermost nor among the innermost
 * two.
 */
function traceback(depth: number): string {
  const frames = Array.from(
    { length: depth },
    (_, n) =>
      `  File "/app/project/module_${n}.py", line ${n + 7}, in step_${n}\n    return step_${n + 1}(value, ${n})`,
  );
  return ['Traceback (most recent call last):', ...frames, 'ValueError: 7 is too small', ''].join(
    '\n',
  );
}

/**
 * Returns a session that views files with and without numbers, searches, lists, edits and fails,
 * partly twice.
 */
function session(): readonly ConversationBlock[] {
  const files = spread(codeFiles(projectRoot, 3), 12).map((path) => readFileSync(path, 'utf8'));
  const numbered = files.map((text) =>
    text
      .split('\n')
      .map((line, at) => `${String(at + 1).padStart(6)}\t${line}`)
      .join('\n'),
  );
  const made = [listingSamples, grepSamples, editSamples].flatMap((make) =>
    spread(make(projectRoot), 8).map((sample) => sample.text),
  );
  const wrapped = traceback(12);
  const texts = [
    ...numbered,
    ...files,
    ...made,
    traceback(9),
    `<returncode>1</returncode>\n<output>\n${wrapped}</output>`,
    ...made.slice(3, 9),
    ...numbered.slice(4).map((text) => text.split('\n').slice(10, 60).join('\n')),
  ];
  return texts.map((text, index) => ({ index, role: 'user', kind: 'tool_result', text }));
}

/** Returns what is sent for the last block; `state` has the others. */
function run(blocks: readonly ConversationBlock[], state: ConversationState): string {
  return compressConversation(blocks, OPTIONS, undefined, state).at(-1)!.text;
}

test('every kept line is in the input or decodes to a line of the input', () => {
  const blocks = session();
  const { kept, strange } = strangeLines(blocks, OPTIONS);
  assert.ok(kept > 1000, String(kept));
  assert.equal(strange.slice(0, 5), []);
});

test('thinned line numbers are announced, and all source lines of stack frames are kept', () => {
  const blocks = session();
  const state = emptyState();
  const view = blocks[0]!.text;
  const numbered = run([blocks[0]!], state);
  assert.match(numbered, /^\[svc \d+ lines, every fifth numbered\]$/m);
  assert.is(restoreReferences(state.sent, numbered), view);
  const trace = traceback(12);
  const failed = { index: 1, role: 'user', kind: 'tool_result', text: trace } as const;
  const out = run([blocks[0]!, failed], state);
  for (let n = 0; n < 12; n++) {
    assert.match(out, `module_${n}.py:${n + 7} step_${n}`);
    assert.match(out, `step_${n + 1}(value, ${n})`);
  }
  assert.match(out, 'ValueError: 7');
});

test('part of a line does not count as a line, nor part of a sentence as a sentence', () => {
  const before = [
    'Build 7 failed: 12 of 340 tests are red.',
    'The first bridge was built in 1801. It fell in 1802, said the mayor. Nobody mourned.',
    'x'.repeat(2000),
  ].join('\n');
  const isKnown = (line: string, ...by: string[]): boolean => knownLines(before, by, 120)(line);
  assert.ok(isKnown('Build 7 failed: 12 of 340 tests are red.'));
  for (const rules of [[], ['log-reduce'], ['narrative'], ['narrative', 'repeats']]) {
    assert.not(isKnown('Build 7 failed', ...rules), rules.join());
    assert.not(isKnown('40 tests are red.', ...rules), rules.join());
    assert.not(isKnown('It fell in 1802', ...rules), rules.join());
    assert.not(isKnown('… Build 7… red.', ...rules), rules.join());
  }
  assert.ok(isKnown('The first bridge was built in 1801. … Nobody mourned.', 'narrative'));
  assert.ok(isKnown('… It fell in 1802, said the mayor. …', 'narrative'));
  assert.not(isKnown('… It fell in 1802, said the mayor. …', 'log-reduce'));
  assert.ok(isKnown(`${'x'.repeat(400)}… ${'x'.repeat(300)}`, 'log-reduce'));
  assert.not(isKnown(`${'x'.repeat(400)}… ${'x'.repeat(300)}`, 'narrative'));
  assert.not(isKnown(`${'x'.repeat(400)}… y`, 'log-reduce'));
});

test('a shortened line keeps its beginning and its end, unless a mark says otherwise', () => {
  const stamp = '2026-01-02T03:04:05Z ';
  const before = `${stamp}${'a'.repeat(900)}${'b'.repeat(900)}${'c'.repeat(900)}`;
  const isKnown = knownLines(before, ['log-reduce'], 120);
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(300));
  for (const line of [
    `${stamp}${a}… ${c}`,
    `${a}… ${b}… ${c}`,
    `${stamp}${a}…`,
    `… ${b}…`,
    `… ${b}… ${c}`,
  ])
    assert.ok(isKnown(line), line);
  for (const line of [
    `${b}… ${c}`,
    `${a}… ${b}`,
    `${b}…`,
    `… ${c}… ${b}…`,
    `04:05Z ${a}… ${c}`,
    `${stamp}${b}… ${c}`,
    '… d…',
  ])
    assert.not(isKnown(line), line);
});

test('a line that mentions a marker is treated like any other line', () => {
  const text = `[svc omitted 3 of 9 lines here (lines 1–3); the source is complete]\nmade up [svc x]`;
  const state = emptyState();
  const outcome = {
    index: 0,
    text,
    changed: true,
    by: [],
    tokensBefore: 1,
    tokensAfter: 1,
    removed: [],
    repeatedLines: 0,
    isTried: true,
  };
  const block = { index: 0, role: 'tool', kind: 'tool_result', text: '' } as const;
  assert.equal(keptLines(outcome, state, block), ['made up [svc x]']);
});

test('an encoding inside a user text and JSON between other lines are decoded and judged', () => {
  const folders = Array.from(
    { length: 120 },
    (_, n) => `./src/components/part-${n % 9}/item-${n}.ts`,
  );
  const rows = Array.from({ length: 60 }, (_, id) => ({ id, name: `item ${id}`, state: 'open' }));
  const texts = [
    `Here is what there is:\n\n${folders.toSorted().join('\n')}\n\nWhich of them is too long?`,
    `These came:\n\n${JSON.stringify(rows)}\n\nWhy?`,
  ];
  const blocks: ConversationBlock[] = [
    ...texts.map((text, index) => ({ index, role: 'user', kind: 'user_text' as const, text })),
    {
      index: 2,
      role: 'tool',
      kind: 'tool_result',
      text: `> app list\n${JSON.stringify(rows, null, 2)}\nShell cwd was reset to /w`,
    },
  ];
  const out = compressConversation(blocks, OPTIONS);
  assert.equal(
    out.map(({ by }) => by.join()),
    ['listing', 'json', 'json'],
  );
  const { kept, strange } = strangeLines(blocks, OPTIONS);
  assert.equal(strange, []);
  assert.ok(kept > 120, `${kept}`);
});

test('an invented name is found in a listing, in search hits and in rows of a user text', () => {
  const folders = Array.from({ length: 90 }, (_, n) => `./src/part-${n % 9}/item-${n}.ts`);
  const hits = folders.map((path, n) => `${path}:${n + 3}:  call(${n});`);
  const rows = folders.map((name, id) => ({ id, name, state: 'open' }));
  const texts = [folders.toSorted().join('\n'), hits.toSorted().join('\n'), JSON.stringify(rows)];
  for (const [at, pasted] of texts.entries()) {
    const text = `Here is what there is:\n\n${pasted}\n\nWhich of them is too long?`;
    const block = { index: 0, role: 'user', kind: 'user_text', text } as const;
    const state = emptyState();
    const [outcome] = compressConversation([block], OPTIONS, undefined, state);
    const isKnown = knownLines(text, outcome!.by, OPTIONS.maxChars);
    const strange = (sent: string): readonly string[] =>
      keptLines({ ...outcome!, text: sent }, state, block).filter((line) => !isKnown(line));
    assert.is(outcome!.by.join(), ['listing', 'grep', 'json'][at]);
    assert.equal(strange(outcome!.text), []);
    const planted = outcome!.text.replace(/(?<=-|,)47(?=[.,])/, '99');
    assert.is.not(planted, outcome!.text);
    assert.is(strange(planted).length, 1, outcome!.by.join());
  }
});

test.run();
