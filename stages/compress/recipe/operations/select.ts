/** Operations that decide which lines stay. */
import type { Operation, Param } from '../operation.ts';
import { keepRows, type Row } from '../rows.ts';

const pattern: Param = { kind: 'patterns', about: 'Which lines' };

/** The runs of neighbouring rows that fit, as ranges of places. */
function runsOf(
  rows: readonly Row[],
  fits: (row: Row) => boolean,
): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  rows.forEach((row, index) => {
    if (!fits(row)) return;
    const last = runs.at(-1);
    if (last?.to === index) last.to = index + 1;
    else runs.push({ from: index, to: index + 1 });
  });
  return runs;
}

/** Ranges of rows from a line that starts one to before the next start or the end. */
function sectionsOf(
  rows: readonly Row[],
  starts: (line: string) => boolean,
  ends: (line: string) => boolean,
): readonly boolean[] {
  let isInside = false;
  return rows.map(({ text }) => {
    if (starts(text)) isInside = true;
    else if (isInside && ends(text)) isInside = false;
    return isInside;
  });
}

function withoutRows(rows: readonly Row[], gone: ReadonlySet<number>): readonly Row[] {
  return keepRows(rows, (_, index) => !gone.has(index));
}

/** Leaves out paragraphs: rows between blank ones. */
function withoutParagraphs(
  rows: readonly Row[],
  isGone: (paragraph: readonly Row[]) => boolean,
): readonly Row[] {
  const gone = new Set<number>();
  for (const { from, to } of runsOf(rows, ({ text }) => text.trim() !== ''))
    if (isGone(rows.slice(from, to))) for (let index = from; index < to; index++) gone.add(index);
  return withoutRows(rows, gone);
}

export const selectOperations = {
  drop_lines: {
    about: 'Leaves out the lines in which a pattern is found.',
    loss: 'lines',
    params: { pattern },
    example: {
      with: { pattern: '^Downloading ' },
      before: 'Collecting six\nDownloading six-1.17.0-py2.py3-none-any.whl (11 kB)\nInstalled',
      after:
        'Collecting six\n[svc omitted 1 of 3 lines here (line 2); the source is complete]\nInstalled',
    },
    make: (args) => {
      const drops = args.test('pattern');
      return (rows) => keepRows(rows, ({ text }) => !drops(text));
    },
  },
  keep_lines: {
    about: 'Leaves out the lines in which no pattern is found; some around each hit may stay.',
    loss: 'lines',
    params: {
      pattern,
      before: { kind: 'count', about: 'Lines that stay before each hit', default: 0 },
      after: { kind: 'count', about: 'Lines that stay behind each hit', default: 0 },
    },
    example: {
      with: { pattern: 'error', after: 1 },
      before: 'start\nerror: no such file\n  a.c:3\nnext\ndone',
      after:
        '[svc omitted 1 of 5 lines here (line 1); the source is complete]\nerror: no such file\n  a.c:3\n[svc omitted lines 4–5]',
    },
    make: (args) => {
      const hits = args.test('pattern');
      const [before, after] = [args.count('before'), args.count('after')];
      return (rows) => {
        const keep = rows.map(() => false);
        let end = 0;
        rows.forEach(({ text }, index) => {
          if (!hits(text)) return;
          const from = Math.max(end, index - before);
          end = Math.min(rows.length, index + after + 1);
          keep.fill(true, from, end);
        });
        return keepRows(rows, (_, index) => keep[index]!);
      };
    },
  },
  collapse_lines: {
    about: 'Of neighbouring lines that fit a pattern keeps the first and the last few.',
    loss: 'lines',
    params: {
      pattern,
      first: { kind: 'count', about: 'Lines kept at the start of a run', default: 1 },
      last: { kind: 'count', about: 'Lines kept at the end of a run', default: 1 },
    },
    example: {
      with: { pattern: '^ok ' },
      before: 'ok 1\nok 2\nok 3\nok 4\nnot ok 5\nok 6',
      after:
        'ok 1\n[svc omitted 2 of 6 lines here (lines 2–3); the source is complete]\nok 4\nnot ok 5\nok 6',
    },
    make: (args) => {
      const fits = args.test('pattern');
      const [first, last] = [args.count('first'), args.count('last')];
      return (rows) => {
        const gone = new Set<number>();
        for (const { from, to } of runsOf(rows, ({ text }) => fits(text)))
          for (let index = from + first; index < to - last; index++) gone.add(index);
        return withoutRows(rows, gone);
      };
    },
  },
  limit_matches: {
    about: 'Keeps at most so many of the lines in which a pattern is found, wherever they stand.',
    loss: 'lines',
    params: { pattern, most: { kind: 'count', about: 'How many stay' } },
    example: {
      with: { pattern: 'warning', most: 1 },
      before: 'a.c:1: warning: unused x\na.c:2: error: y\na.c:9: warning: unused z',
      after:
        'a.c:1: warning: unused x\na.c:2: error: y\n[svc omitted 1 of 3 lines here (line 3); the source is complete]',
    },
    make: (args) => {
      const fits = args.test('pattern');
      const most = args.count('most');
      return (rows) => {
        let found = 0;
        return keepRows(rows, ({ text }) => !fits(text) || ++found <= most);
      };
    },
  },
  limit_per_key: {
    about: "Keeps at most so many lines for each value of the pattern's first group.",
    loss: 'lines',
    params: { pattern, most: { kind: 'count', about: 'How many stay for each value' } },
    example: {
      with: { pattern: '^([^:]+):', most: 1 },
      before: 'a.ts:1: x\na.ts:2: x\nb.ts:7: x',
      after:
        'a.ts:1: x\n[svc omitted 1 of 3 lines here (line 2); the source is complete]\nb.ts:7: x',
    },
    make: (args) => {
      const keyOf = args.capture('pattern');
      const most = args.count('most');
      return (rows) => {
        const found = new Map<string, number>();
        return keepRows(rows, ({ text }) => {
          const key = keyOf(text);
          if (key === undefined) return true;
          found.set(key, (found.get(key) ?? 0) + 1);
          return found.get(key)! <= most;
        });
      };
    },
  },
  keep_head: {
    about: 'Keeps the first lines.',
    loss: 'lines',
    params: { lines: { kind: 'count', about: 'How many' } },
    example: {
      with: { lines: 1 },
      before: 'one\ntwo\nthree',
      after: 'one\n[svc omitted 2 of 3 lines here (lines 2–3); the source is complete]',
    },
    make: (args) => {
      const lines = args.count('lines');
      return (rows) => keepRows(rows, (_, index) => index < lines);
    },
  },
  keep_tail: {
    about: 'Keeps the last lines.',
    loss: 'lines',
    params: { lines: { kind: 'count', about: 'How many' } },
    example: {
      with: { lines: 1 },
      before: 'one\ntwo\nthree',
      after: '[svc omitted 2 of 3 lines here (lines 1–2); the source is complete]\nthree',
    },
    make: (args) => {
      const lines = args.count('lines');
      return (rows) => keepRows(rows, (_, index) => index >= rows.length - lines);
    },
  },
  keep_ends: {
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
    make: (args) => {
      const [first, last] = [args.count('head'), args.count('tail')];
      return (rows) => keepRows(rows, (_, index) => index < first || index >= rows.length - last);
    },
  },
  drop_section: {
    about: 'Leaves out the lines from one that starts a section to before one that ends it.',
    loss: 'lines',
    params: {
      start: { kind: 'patterns', about: 'Lines that start a section' },
      end: { kind: 'patterns', about: 'Lines behind it; each is kept' },
    },
    example: {
      with: { start: '^Untracked files:', end: '^\\S' },
      before: 'On branch main\nUntracked files:\n\ta.txt\n\tb.txt\nnothing to commit',
      after:
        'On branch main\n[svc omitted 3 of 5 lines here (lines 2–4); the source is complete]\nnothing to commit',
    },
    make: (args) => {
      const [starts, ends] = [args.test('start'), args.test('end')];
      return (rows) => {
        const inside = sectionsOf(rows, starts, ends);
        return keepRows(rows, (_, index) => !inside[index]!);
      };
    },
  },
  keep_section: {
    about:
      'Keeps the lines from one that starts a section to before one that ends it, and no others.',
    loss: 'lines',
    params: {
      start: { kind: 'patterns', about: 'Lines that start a section' },
      end: { kind: 'patterns', about: 'Lines behind it' },
    },
    example: {
      with: { start: '^FAILURES', end: '^SUMMARY' },
      before: 'collected 2\nFAILURES\nassert 1 == 2\nSUMMARY\n1 failed',
      after:
        '[svc omitted 1 of 5 lines here (line 1); the source is complete]\nFAILURES\nassert 1 == 2\n[svc omitted lines 4–5]',
    },
    make: (args) => {
      const [starts, ends] = [args.test('start'), args.test('end')];
      return (rows) => {
        const inside = sectionsOf(rows, starts, ends);
        return inside.includes(true) ? keepRows(rows, (_, index) => inside[index]!) : rows;
      };
    },
  },
  limit_section: {
    about:
      'Keeps the first lines of each section, which goes from a line that starts it to the next.',
    loss: 'lines',
    params: {
      start: { kind: 'patterns', about: 'Lines that start a section' },
      lines: { kind: 'count', about: 'Lines kept of each, the first included', least: 1 },
    },
    example: {
      with: { start: '^warning', lines: 2 },
      before: 'warning: unused\n --> a.rs:1\n  |\n1 | let x;\nwarning: dead\n --> a.rs:9',
      after:
        'warning: unused\n --> a.rs:1\n[svc omitted 2 of 6 lines here (lines 3–4); the source is complete]\nwarning: dead\n --> a.rs:9',
    },
    make: (args) => {
      const starts = args.test('start');
      const lines = args.count('lines');
      return (rows) => {
        let since = -Infinity;
        return keepRows(rows, ({ text }, index) => {
          if (starts(text)) since = index;
          return since === -Infinity || index - since < lines;
        });
      };
    },
  },
  drop_paragraphs: {
    about: 'Leaves out the paragraphs, lines between blank ones, in which a pattern is found.',
    loss: 'lines',
    params: { pattern },
    example: {
      with: { pattern: '^hint:' },
      before: 'error: failed to push\n\nhint: Updates were rejected\nhint: See the note\n\ndone',
      after:
        'error: failed to push\n\n[svc omitted 2 of 6 lines here (lines 3–4); the source is complete]\n\ndone',
    },
    make: (args) => {
      const fits = args.test('pattern');
      return (rows) => withoutParagraphs(rows, (own) => own.some(({ text }) => fits(text)));
    },
  },
  keep_paragraphs: {
    about: 'Leaves out the paragraphs, lines between blank ones, in which no pattern is found.',
    loss: 'lines',
    params: { pattern },
    example: {
      with: { pattern: 'FAILED' },
      before: 'test a\n... ok\n\ntest b\n... FAILED',
      after:
        '[svc omitted 2 of 5 lines here (lines 1–2); the source is complete]\n\ntest b\n... FAILED',
    },
    make: (args) => {
      const fits = args.test('pattern');
      return (rows) => withoutParagraphs(rows, (own) => !own.some(({ text }) => fits(text)));
    },
  },
  sample_lines: {
    about:
      'Of the lines in which a pattern is found keeps each so-manieth, beginning with the first.',
    loss: 'lines',
    params: { pattern, every: { kind: 'count', about: 'One of so many stays', least: 2 } },
    example: {
      with: { pattern: '^epoch', every: 2 },
      before: 'epoch 1\nepoch 2\nepoch 3\nsaved',
      after:
        'epoch 1\n[svc omitted 1 of 4 lines here (line 2); the source is complete]\nepoch 3\nsaved',
    },
    make: (args) => {
      const fits = args.test('pattern');
      const every = args.count('every');
      return (rows) => {
        let found = 0;
        return keepRows(rows, ({ text }) => !fits(text) || found++ % every === 0);
      };
    },
  },
  drop_decoration: {
    about: 'Leaves out lines of rulers and frames alone, such as ===== or ├───┤.',
    loss: 'lines',
    params: {},
    example: {
      with: {},
      before: '=========\nRESULTS\n---------\n2 passed',
      after:
        '[svc omitted 1 of 4 lines here (line 1); the source is complete]\nRESULTS\n[svc omitted line 3]\n2 passed',
    },
    make: () => (rows) =>
      keepRows(
        rows,
        ({ text }) => text.length > 300 || !/^\s*[-=_*#~+|^.\u2500-\u257f]{3,300}\s*$/.test(text),
      ),
  },
} satisfies Readonly<Record<string, Operation>>;
