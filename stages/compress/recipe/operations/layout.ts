/** Operations on what only a terminal or an eye needs. */
import { withoutColours } from '../../../model/classify/colours.ts';
import type { Operation } from '../operation.ts';
import { changeRows, keepRows } from '../rows.ts';

export const layoutOperations = {
  strip_ansi: {
    about: 'Removes colours and other commands to a terminal. Nothing that can be read is lost.',
    loss: 'none',
    params: {},
    example: { with: {}, before: '\u001b[31merror\u001b[0m: x', after: 'error: x' },
    make: () => (rows) => changeRows(rows, withoutColours),
  },
  trim_lines: {
    about: 'Removes white space at the ends of lines.',
    loss: 'none',
    params: {},
    example: { with: {}, before: 'name   \nvalue', after: 'name\nvalue' },
    make: () => (rows) => changeRows(rows, (text) => text.trimEnd()),
  },
  dedent: {
    about: 'Removes the white space that all lines begin with.',
    loss: 'none',
    params: {},
    example: { with: {}, before: '    a:\n      b: 1', after: 'a:\n  b: 1' },
    make: () => (rows) => {
      const filled = rows.filter(({ text }) => text.trim() !== '');
      if (filled.some(({ stays, text }) => stays === true && !/^\s/.test(text))) return rows;
      const widths = filled.map(({ text }) => text.length - text.trimStart().length);
      const width = Math.min(...widths);
      return width > 0 && Number.isFinite(width)
        ? changeRows(rows, (text) => (text.trim() === '' ? text : text.slice(width)))
        : rows;
    },
  },
  collapse_blank_lines: {
    about: 'Of blank lines in a row keeps one.',
    loss: 'none',
    params: {},
    example: { with: {}, before: 'a\n\n\n\nb', after: 'a\n\nb' },
    make: () => (rows) =>
      keepRows(
        rows,
        ({ text }, index) => text.trim() !== '' || rows[index - 1]?.text.trim() !== '',
      ),
  },
  drop_blank_lines: {
    about: 'Leaves out blank lines.',
    loss: 'none',
    params: {},
    example: { with: {}, before: 'a\n\nb\n', after: 'a\nb' },
    make: () => (rows) => keepRows(rows, ({ text }) => text.trim() !== ''),
  },
  collapse_spaces: {
    about: 'Runs of blanks inside lines become two: columns stay apart, their padding goes.',
    loss: 'none',
    params: {},
    example: {
      with: {},
      before: 'NAME          READY   STATUS\napi-7d9       1/1     Running',
      after: 'NAME  READY  STATUS\napi-7d9  1/1  Running',
    },
    make: () => (rows) => changeRows(rows, collapseSpaces),
  },
} satisfies Readonly<Record<string, Operation>>;

function collapseSpaces(text: string): string {
  const indent = text.length - text.trimStart().length;
  return text.slice(0, indent) + text.slice(indent).replaceAll(/ {3,}/g, '  ').trimEnd();
}
