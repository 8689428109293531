/** Operations on lines that are equal or alike. */
import { templateOf } from '../../log/score.ts';
import { MARK } from '../../text/marker.ts';
import { repeated } from '../../text/repeats.ts';
import type { Operation } from '../operation.ts';
import { keepRows, type Row } from '../rows.ts';

/** A line without what tells it from others of its kind: numbers, hashes. */
const shapeOf = (line: string): string => templateOf(line.slice(0, 500));

/** Ranges of neighbouring rows with one key, `least` or more of them. */
function alikeRuns(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  least: number,
): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (let from = 0; from < rows.length;) {
    const key = keyOf(rows[from]!);
    let to = from + 1;
    while (to < rows.length && keyOf(rows[to]!) === key) to++;
    if (to - from >= least) runs.push({ from, to });
    from = to;
  }
  return runs;
}

export const foldOperations = {
  fold_repeats: {
    about: 'Equal lines in a row become one and a count. Nothing is lost.',
    loss: 'none',
    params: {
      least: { kind: 'count', about: 'Shortest run that is folded', default: 3, least: 2 },
    },
    example: {
      with: {},
      before: 'waiting for db\nwaiting for db\nwaiting for db\nready',
      after: 'waiting for db\n[svc the line above 2 more times]\nready',
    },
    make: (args) => {
      const least = args.count('least');
      return (rows) => {
        const runs = alikeRuns(rows, ({ text }) => text, least).filter(
          ({ from, to }) => !rows.slice(from, to).some(({ stays }) => stays === true),
        );
        if (runs.length === 0) return rows;
        const out: Row[] = [];
        let index = 0;
        for (const { from, to } of runs) {
          const covers = rows
            .slice(from + 1, to)
            .flatMap(({ at }) => (at === undefined ? [] : [at]));
          out.push(...rows.slice(index, from + 1), {
            text: repeated(to - from - 1),
            covers,
          });
          index = to;
        }
        return [...out, ...rows.slice(index)];
      };
    },
  },
  fold_similar: {
    about:
      'Of neighbouring lines that differ in numbers and hashes alone keeps the first and the last.',
    loss: 'lines',
    params: {
      least: { kind: 'count', about: 'Shortest run that is folded', default: 4, least: 3 },
    },
    example: {
      with: {},
      before: 'layer 1: pulled\nlayer 2: pulled\nlayer 3: pulled\nlayer 4: pulled\ndone',
      after:
        'layer 1: pulled\n[svc omitted 2 of 5 lines here (lines 2–3); the source is complete]\nlayer 4: pulled\ndone',
    },
    make: (args) => {
      const least = args.count('least');
      return (rows) => {
        const gone = new Set<number>();
        for (const { from, to } of alikeRuns(rows, ({ text }) => shapeOf(text), least))
          for (let index = from + 1; index < to - 1; index++) gone.add(index);
        return keepRows(rows, (_, index) => !gone.has(index));
      };
    },
  },
  dedupe: {
    about: 'Leaves out lines that stood there before to the letter.',
    loss: 'lines',
    params: {},
    example: {
      with: {},
      before: 'warn: old api\nbuilt a\nwarn: old api\nbuilt b',
      after:
        'warn: old api\nbuilt a\n[svc omitted 1 of 4 lines here (line 3); the source is complete]\nbuilt b',
    },
    make: () => (rows) => {
      const seen = new Set<string>();
      return keepRows(rows, ({ text }) => {
        if (text.trim() === '') return true;
        const isNew = !seen.has(text);
        seen.add(text);
        return isNew;
      });
    },
  },
  dedupe_similar: {
    about:
      'Leaves out lines that differ from more than so many earlier ones in numbers and hashes alone.',
    loss: 'lines',
    params: { most: { kind: 'count', about: 'How many of one shape stay', default: 2, least: 1 } },
    example: {
      with: { most: 1 },
      before: 'get /a took 12 ms\nput /b\nget /a took 15 ms',
      after:
        'get /a took 12 ms\nput /b\n[svc omitted 1 of 3 lines here (line 3); the source is complete]',
    },
    make: (args) => {
      const most = args.count('most');
      return (rows) => {
        const seen = new Map<string, number>();
        return keepRows(rows, ({ text }) => {
          if (text.trim() === '') return true;
          const shape = shapeOf(text);
          seen.set(shape, (seen.get(shape) ?? 0) + 1);
          return seen.get(shape)! <= most;
        });
      };
    },
  },
  dedupe_paragraphs: {
    about:
      'Leaves out paragraphs, lines between blank ones, that stood there before to the letter.',
    loss: 'lines',
    params: {},
    example: {
      with: {},
      before: 'Traceback\n  a.py:1\n\nretry\n\nTraceback\n  a.py:1',
      after:
        'Traceback\n  a.py:1\n\nretry\n\n[svc omitted 2 of 7 lines here (lines 6–7); the source is complete]',
    },
    make: () => (rows) => {
      const seen = new Set<string>();
      const gone = new Set<number>();
      for (let from = 0; from < rows.length;) {
        let to = from;
        while (to < rows.length && rows[to]!.text.trim() !== '') to++;
        const text = rows
          .slice(from, to)
          .map((row) => row.text)
          .join('\n');
        if (to > from && seen.has(text))
          for (let index = from; index < to; index++) gone.add(index);
        seen.add(text);
        from = to + 1;
      }
      return keepRows(rows, (_, index) => !gone.has(index));
    },
  },
  summarise_counts: {
    about:
      'Replaces the lines in which a pattern is found by how many there are of each value of its first group.',
    loss: 'text',
    params: {
      pattern: { kind: 'patterns', about: 'Which lines; its first group is what is counted' },
    },
    example: {
      with: { pattern: ' (PASSED|SKIPPED)$' },
      before: 'test_a PASSED\ntest_b PASSED\ntest_c SKIPPED\ntest_d FAILED',
      after: '[svc 3 lines: 2 × PASSED, 1 × SKIPPED; the source is complete]\ntest_d FAILED',
    },
    make: (args) => {
      const keyOf = args.capture('pattern');
      return (rows) => {
        const counts = new Map<string, number>();
        const out: Row[] = [];
        let first: number | undefined;
        const covers: number[] = [];
        for (const row of rows) {
          const key = row.stays === true || row.at === undefined ? undefined : keyOf(row.text);
          if (key === undefined) {
            out.push(row);
            continue;
          }
          first ??= out.length;
          covers.push(row.at!);
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        if (first === undefined) return rows;
        const each = [...counts].map(([key, count]) => `${count} × ${key}`).join(', ');
        const text = `${MARK}${covers.length} ${covers.length === 1 ? 'line' : 'lines'}: ${each}; the source is complete]`;
        return out.toSpliced(first, 0, { text, covers });
      };
    },
  },
} satisfies Readonly<Record<string, Operation>>;
