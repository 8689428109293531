/** Operations on equal or similar lines. */
import { templateOf } from '../../rules/log/score.ts';
import { MARK } from '../../text/marker.ts';
import { repeatCount } from '../../text/repeats.ts';
import { replaceRanges, runsOf } from '../../text/ranges.ts';
import { operation } from '../operation.ts';
import {
  createCounter,
  isBlank,
  keepRows,
  textOf,
  withoutParagraphs,
  withoutRanges,
  type Row,
} from '../rows.ts';

/** Returns a line without numbers and hashes, which distinguish it from others of its kind. */
const shapeOf = ({ text }: Row): string => templateOf(text.slice(0, 500));

export const foldOperations = {
  fold_repeats: operation({
    about: 'Equal lines in a row become one and a count. Nothing is lost.',
    loss: 'none',
    params: {
      least: { kind: 'count', about: 'Shortest run that is folded', default: 3, min: 2 },
    },
    example: {
      with: {},
      before: 'waiting for db\nwaiting for db\nwaiting for db\nready',
      after: 'waiting for db\n[svc the line above 2 more times]\nready',
    },
    run(rows, { least }) {
      const runs = runsOf(rows, ({ text }) => text, least).filter(
        ({ from, to }) => !rows.slice(from, to).some(({ isProtected }) => isProtected === true),
      );
      return replaceRanges(rows, runs, ({ from, to }) => {
        const covers = rows.slice(from + 1, to).flatMap(({ at }) => at ?? []);
        return [rows[from]!, { text: repeatCount(to - from - 1), covers }];
      });
    },
  }),
  fold_similar: operation({
    about: 'Keeps the first and last of adjacent lines that differ only in numbers and hashes.',
    loss: 'lines',
    params: {
      least: { kind: 'count', about: 'Shortest run that is folded', default: 4, min: 3 },
    },
    example: {
      with: {},
      before: 'layer 1: pulled\nlayer 2: pulled\nlayer 3: pulled\nlayer 4: pulled\ndone',
      after:
        'layer 1: pulled\n[svc omitted 2 of 5 lines here (lines 2–3); the source is complete]\nlayer 4: pulled\ndone',
    },
    run(rows, { least }) {
      const runs = runsOf(rows, shapeOf, least);
      return withoutRanges(
        rows,
        runs.map(({ from, to }) => ({ from: from + 1, to: to - 1 })),
      );
    },
  }),
  dedupe: operation({
    about: 'Removes lines that exactly repeat an earlier one.',
    loss: 'lines',
    params: {},
    example: {
      with: {},
      before: 'warn: old api\nbuilt a\nwarn: old api\nbuilt b',
      after:
        'warn: old api\nbuilt a\n[svc omitted 1 of 4 lines here (line 3); the source is complete]\nbuilt b',
    },
    run(rows) {
      const timesOf = createCounter();
      return keepRows(rows, (row) => isBlank(row) || timesOf(row.text) === 1);
    },
  }),
  dedupe_similar: operation({
    about: 'Limits how many lines that differ only in numbers and hashes are kept.',
    loss: 'lines',
    params: { most: { kind: 'count', about: 'How many of one shape stay', default: 2, min: 1 } },
    example: {
      with: { most: 1 },
      before: 'get /a took 12 ms\nput /b\nget /a took 15 ms',
      after:
        'get /a took 12 ms\nput /b\n[svc omitted 1 of 3 lines here (line 3); the source is complete]',
    },
    run(rows, { most }) {
      const timesOf = createCounter();
      return keepRows(rows, (row) => isBlank(row) || timesOf(shapeOf(row)) <= most);
    },
  }),
  dedupe_paragraphs: operation({
    about: 'Removes paragraphs (separated by blank lines) that exactly repeat an earlier one.',
    loss: 'lines',
    params: {
      from: {
        kind: 'count',
        about: 'Line of each paragraph at which comparison and removal start',
        default: 1,
        min: 1,
      },
    },
    example: {
      with: {},
      before: 'Traceback\n  a.py:1\n\nretry\n\nTraceback\n  a.py:1',
      after:
        'Traceback\n  a.py:1\n\nretry\n\n[svc omitted 2 of 7 lines here (lines 6–7); the source is complete]',
    },
    run(rows, { from }) {
      const timesOf = createCounter();
      return withoutParagraphs(
        rows,
        (paragraph) => {
          const compared = paragraph.slice(from - 1);
          return compared.length > 0 && timesOf(textOf(compared)) > 1;
        },
        from - 1,
      );
    },
  }),
  summarise_counts: operation({
    about: 'Replaces matching lines with a count for each value of the first group.',
    loss: 'text',
    params: {
      pattern: {
        kind: 'patterns',
        about: 'Lines to replace; values of its first group are counted',
      },
    },
    example: {
      with: { pattern: ' (PASSED|SKIPPED)$' },
      before: 'test_a PASSED\ntest_b PASSED\ntest_c SKIPPED\ntest_d FAILED',
      after: '[svc 3 lines: 2 × PASSED, 1 × SKIPPED; the source is complete]\ntest_d FAILED',
    },
    run(rows, { pattern }) {
      const counts = new Map<string, number>();
      const out: Row[] = [];
      let first: number | undefined;
      const covers: number[] = [];
      for (const row of rows) {
        const key = row.isProtected === true ? undefined : pattern.captureIn(row.text);
        if (key === undefined || row.at === undefined) {
          out.push(row);
          continue;
        }
        first ??= out.length;
        covers.push(row.at);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      if (first === undefined) return rows;
      const each = [...counts].map(([key, count]) => `${count} × ${key}`).join(', ');
      const text = `${MARK}${covers.length} ${covers.length === 1 ? 'line' : 'lines'}: ${each}; the source is complete]`;
      return out.toSpliced(first, 0, { text, covers });
    },
  }),
};
