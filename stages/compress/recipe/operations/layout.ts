/** Operations that drop what only a terminal or a human eye needs. */
import { withoutColours } from '../../../model/classify/colours.ts';
import { operation } from '../operation.ts';
import { changeRows, isBlank, keepRows } from '../rows.ts';

export const layoutOperations = {
  strip_ansi: operation({
    about: 'Removes colours and other terminal escape sequences. No visible text is lost.',
    loss: 'none',
    params: {},
    example: { with: {}, before: '\u001b[31merror\u001b[0m: x', after: 'error: x' },
    run: (rows) => changeRows(rows, withoutColours),
  }),
  trim_lines: operation({
    about: 'Removes white space at the ends of lines.',
    loss: 'none',
    params: {},
    example: { with: {}, before: 'name   \nvalue', after: 'name\nvalue' },
    run: (rows) => changeRows(rows, (text) => text.trimEnd()),
  }),
  dedent: operation({
    about: 'Removes the indentation that all lines share.',
    loss: 'none',
    params: {},
    example: { with: {}, before: '    a:\n      b: 1', after: 'a:\n  b: 1' },
    run(rows) {
      const filled = rows.filter((row) => !isBlank(row));
      if (filled.some(({ isProtected, text }) => isProtected === true && !/^\s/.test(text)))
        return rows;
      const widths = filled.map(({ text }) => text.length - text.trimStart().length);
      const width = Math.min(...widths);
      return width > 0 && Number.isFinite(width)
        ? changeRows(rows, (text) => (isBlank({ text }) ? text : text.slice(width)))
        : rows;
    },
  }),
  collapse_blank_lines: operation({
    about: 'Reduces consecutive blank lines to one.',
    loss: 'none',
    params: {},
    example: { with: {}, before: 'a\n\n\n\nb', after: 'a\n\nb' },
    run: (rows) =>
      keepRows(rows, (row, index) => !isBlank(row) || rows[index - 1]?.text.trim() !== ''),
  }),
  drop_blank_lines: operation({
    about: 'Leaves out blank lines.',
    loss: 'none',
    params: {},
    example: { with: {}, before: 'a\n\nb\n', after: 'a\nb' },
    run: (rows) => keepRows(rows, (row) => !isBlank(row)),
  }),
  collapse_spaces: operation({
    about: 'Reduces runs of spaces inside lines to two: columns stay apart, padding is removed.',
    loss: 'none',
    params: {},
    example: {
      with: {},
      before: 'NAME          READY   STATUS\napi-7d9       1/1     Running',
      after: 'NAME  READY  STATUS\napi-7d9  1/1  Running',
    },
    run: (rows) => changeRows(rows, collapseSpaces),
  }),
};

function collapseSpaces(text: string): string {
  const indent = text.length - text.trimStart().length;
  return text.slice(0, indent) + text.slice(indent).replaceAll(/ {3,}/g, '  ').trimEnd();
}
