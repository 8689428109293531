/** Operations that select the lines to keep. */
import { operation } from '../operation.ts';
import type { Patterns } from '../pattern.ts';
import { runsOf } from '../../text/ranges.ts';
import { createCounter, keepRows, withoutParagraphs, withoutRanges, type Row } from '../rows.ts';

const WHICH_LINES = { kind: 'patterns', about: 'Which lines' } as const;

/** Marks the rows of each section, from a start line to before the next start or the end line. */
function sectionsOf(rows: readonly Row[], start: Patterns, end: Patterns): readonly boolean[] {
  let isInside = false;
  return rows.map(({ text }) => {
    if (start.test(text)) isInside = true;
    else if (isInside && end.test(text)) isInside = false;
    return isInside;
  });
}

/** Keeps the first and the last rows. */
const keepEnds = (rows: readonly Row[], head: number, tail: number): readonly Row[] =>
  keepRows(rows, (_, index) => index < head || index >= rows.length - tail);

export const selectOperations = {
  drop_lines: operation({
    about: 'Removes the lines that match a pattern.',
    loss: 'lines',
    params: { pattern: WHICH_LINES },
    example: {
      with: { pattern: '^Downloading ' },
      before: 'Collecting six\nDownloading six-1.17.0-py2.py3-none-any.whl (11 kB)\nInstalled',
      after:
        'Collecting six\n[svc omitted 1 of 3 lines here (line 2); the source is complete]\nInstalled',
    },
    run: (rows, { pattern }) => keepRows(rows, ({ text }) => !pattern.test(text)),
  }),
  keep_lines: operation({
    about: 'Removes the lines that match no pattern; context around each match can be kept.',
    loss: 'lines',
    params: {
      pattern: WHICH_LINES,
      before: { kind: 'count', about: 'Lines kept before each match', default: 0 },
      after: { kind: 'count', about: 'Lines kept after each match', default: 0 },
    },
    example: {
      with: { pattern: 'error', after: 1 },
      before: 'start\nerror: no such file\n  a.c:3\nnext\ndone',
      after:
        '[svc omitted 1 of 5 lines here (line 1); the source is complete]\nerror: no such file\n  a.c:3\n[svc omitted lines 4–5]',
    },
    run(rows, { pattern, before, after }) {
      const keep = rows.map(() => false);
      let end = 0;
      rows.forEach(({ text }, index) => {
        if (!pattern.test(text)) return;
        const from = Math.max(end, index - before);
        end = Math.min(rows.length, index + after + 1);
        keep.fill(true, from, end);
      });
      return keepRows(rows, (_, index) => keep[index]!);
    },
  }),
  collapse_lines: operation({
    about: 'Keeps the first and last few of adjacent lines that match a pattern.',
    loss: 'lines',
    params: {
      pattern: WHICH_LINES,
      first: { kind: 'count', about: 'Lines kept at the start of a run', default: 1 },
      last: { kind: 'count', about: 'Lines kept at the end of a run', default: 1 },
    },
    example: {
      with: { pattern: '^ok ' },
      before: 'ok 1\nok 2\nok 3\nok 4\nnot ok 5\nok 6',
      after:
        'ok 1\n[svc omitted 2 of 6 lines here (lines 2–3); the source is complete]\nok 4\nnot ok 5\nok 6',
    },
    run: (rows, { pattern, first, last }) =>
      withoutRanges(
        rows,
        runsOf(rows, ({ text }) => pattern.test(text) || undefined).map(({ from, to }) => ({
          from: from + first,
          to: to - last,
        })),
      ),
  }),
  limit_matches: operation({
    about: 'Limits how many lines that match a pattern are kept, wherever they occur.',
    loss: 'lines',
    params: { pattern: WHICH_LINES, most: { kind: 'count', about: 'How many stay' } },
    example: {
      with: { pattern: 'warning', most: 1 },
      before: 'a.c:1: warning: unused x\na.c:2: error: y\na.c:9: warning: unused z',
      after:
        'a.c:1: warning: unused x\na.c:2: error: y\n[svc omitted 1 of 3 lines here (line 3); the source is complete]',
    },
    run(rows, { pattern, most }) {
      let found = 0;
      return keepRows(rows, ({ text }) => !pattern.test(text) || ++found <= most);
    },
  }),
  limit_per_key: operation({
    about: "Limits how many lines are kept for each value of the pattern's first group.",
    loss: 'lines',
    params: {
      pattern: WHICH_LINES,
      most: { kind: 'count', about: 'How many stay for each value' },
    },
    example: {
      with: { pattern: '^([^:]+):', most: 1 },
      before: 'a.ts:1: x\na.ts:2: x\nb.ts:7: x',
      after:
        'a.ts:1: x\n[svc omitted 1 of 3 lines here (line 2); the source is complete]\nb.ts:7: x',
    },
    run(rows, { pattern, most }) {
      const timesOf = createCounter();
      return keepRows(rows, ({ text }) => {
        const key = pattern.captureIn(text);
        return key === undefined || timesOf(key) <= most;
      });
    },
  }),
  keep_head: operation({
    about: 'Keeps the first lines.',
    loss: 'lines',
    params: { lines: { kind: 'count', about: 'How many' } },
    example: {
      with: { lines: 1 },
      before: 'one\ntwo\nthree',
      after: 'one\n[svc omitted 2 of 3 lines here (lines 2–3); the source is complete]',
    },
    run: (rows, { lines }) => keepEnds(rows, lines, 0),
  }),
  keep_tail: operation({
    about: 'Keeps the last lines.',
    loss: 'lines',
    params: { lines: { kind: 'count', about: 'How many' } },
    example: {
      with: { lines: 1 },
      before: 'one\ntwo\nthree',
      after: '[svc omitted 2 of 3 lines here (lines 1–2); the source is complete]\nthree',
    },
    run: (rows, { lines }) => keepEnds(rows, 0, lines),
  }),
  keep_ends: operation({
    about: 'Keeps the first and the last lines of a text that is longer than both together.',
    loss: 'lines',
    params: {
      head: { kind: 'count', about: 'Lines kept at the start' },
      tail: { kind: 'count', about: 'Lines kept at the end' },
    },
    example: {
      with: { head: 1, tail: 1 },
      before: 'one\ntwo\nthree\nfour',
      after: 'one\n[svc omitted 2 of 4 lines here (lines 2–3); the source is complete]\nfour',
    },
    run: (rows, { head, tail }) => keepEnds(rows, head, tail),
  }),
  drop_section: operation({
    about: 'Removes each section, from its start line up to but not including its end line.',
    loss: 'lines',
    params: {
      start: { kind: 'patterns', about: 'Lines that start a section' },
      end: { kind: 'patterns', about: 'First line after a section; it is kept' },
    },
    example: {
      with: { start: '^Untracked files:', end: '^\\S' },
      before: 'On branch main\nUntracked files:\n\ta.txt\n\tb.txt\nnothing to commit',
      after:
        'On branch main\n[svc omitted 3 of 5 lines here (lines 2–4); the source is complete]\nnothing to commit',
    },
    run(rows, { start, end }) {
      const inside = sectionsOf(rows, start, end);
      return keepRows(rows, (_, index) => !inside[index]!);
    },
  }),
  keep_section: operation({
    about: 'Keeps only sections, each from its start line up to but not including its end line.',
    loss: 'lines',
    params: {
      start: { kind: 'patterns', about: 'Lines that start a section' },
      end: { kind: 'patterns', about: 'First line after a section' },
    },
    example: {
      with: { start: '^FAILURES', end: '^SUMMARY' },
      before: 'collected 2\nFAILURES\nassert 1 == 2\nSUMMARY\n1 failed',
      after:
        '[svc omitted 1 of 5 lines here (line 1); the source is complete]\nFAILURES\nassert 1 == 2\n[svc omitted lines 4–5]',
    },
    run(rows, { start, end }) {
      const inside = sectionsOf(rows, start, end);
      return inside.includes(true) ? keepRows(rows, (_, index) => inside[index]!) : rows;
    },
  }),
  limit_section: operation({
    about: 'Keeps the first lines of each section; a section ends where the next one starts.',
    loss: 'lines',
    params: {
      start: { kind: 'patterns', about: 'Lines that start a section' },
      lines: { kind: 'count', about: 'Lines kept of each, the first included', min: 1 },
    },
    example: {
      with: { start: '^warning', lines: 2 },
      before: 'warning: unused\n --> a.rs:1\n  |\n1 | let x;\nwarning: dead\n --> a.rs:9',
      after:
        'warning: unused\n --> a.rs:1\n[svc omitted 2 of 6 lines here (lines 3–4); the source is complete]\nwarning: dead\n --> a.rs:9',
    },
    run(rows, { start, lines }) {
      let since = -Infinity;
      return keepRows(rows, ({ text }, index) => {
        if (start.test(text)) since = index;
        return since === -Infinity || index - since < lines;
      });
    },
  }),
  drop_paragraphs: operation({
    about: 'Removes paragraphs (separated by blank lines) that match a pattern.',
    loss: 'lines',
    params: { pattern: WHICH_LINES },
    example: {
      with: { pattern: '^hint:' },
      before: 'error: failed to push\n\nhint: Updates were rejected\nhint: See the note\n\ndone',
      after:
        'error: failed to push\n\n[svc omitted 2 of 6 lines here (lines 3–4); the source is complete]\n\ndone',
    },
    run: (rows, { pattern }) =>
      withoutParagraphs(rows, (own) => own.some(({ text }) => pattern.test(text))),
  }),
  keep_paragraphs: operation({
    about: 'Removes paragraphs (separated by blank lines) that match no pattern.',
    loss: 'lines',
    params: { pattern: WHICH_LINES },
    example: {
      with: { pattern: 'FAILED' },
      before: 'test a\n... ok\n\ntest b\n... FAILED',
      after:
        '[svc omitted 2 of 5 lines here (lines 1–2); the source is complete]\n\ntest b\n... FAILED',
    },
    run: (rows, { pattern }) =>
      withoutParagraphs(rows, (own) => !own.some(({ text }) => pattern.test(text))),
  }),
  sample_lines: operation({
    about: 'Keeps every nth line that matches a pattern, starting with the first.',
    loss: 'lines',
    params: {
      pattern: WHICH_LINES,
      every: { kind: 'count', about: 'The n: one line of every n is kept', min: 2 },
    },
    example: {
      with: { pattern: '^epoch', every: 2 },
      before: 'epoch 1\nepoch 2\nepoch 3\nsaved',
      after:
        'epoch 1\n[svc omitted 1 of 4 lines here (line 2); the source is complete]\nepoch 3\nsaved',
    },
    run(rows, { pattern, every }) {
      let found = 0;
      return keepRows(rows, ({ text }) => !pattern.test(text) || found++ % every === 0);
    },
  }),
  drop_decoration: operation({
    about: 'Removes lines that contain only rulers and frames, such as ===== or ├───┤.',
    loss: 'lines',
    params: {},
    example: {
      with: {},
      before: '=========\nRESULTS\n---------\n2 passed',
      after:
        '[svc omitted 1 of 4 lines here (line 1); the source is complete]\nRESULTS\n[svc omitted line 3]\n2 passed',
    },
    run: (rows) =>
      keepRows(
        rows,
        ({ text }) => text.length > 300 || !/^\s*[-=_*#~+|^.\u2500-\u257f]{3,300}\s*$/.test(text),
      ),
  }),
};
