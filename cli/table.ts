/** Results as a table; apart from the other output because only some commands load the library. */
import Table from 'cli-table3';
import type { BaseContext } from 'clipanion';
import { colorsFor } from './output.ts';

/** Column heads; a head that starts with `>` is aligned to the right. */
export type TableHead = readonly string[];

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Rows under heads, without borders, as the text of a result. */
export function printTable(
  context: BaseContext,
  head: TableHead,
  rows: readonly (readonly string[])[],
): void {
  const colors = colorsFor(context.stdout, context.env);
  const table = new Table({
    chars: NO_BORDERS,
    colAligns: head.map((name) => (name.startsWith('>') ? 'right' : 'left')),
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  table.push(head.map((name) => colors.dim(name.replace(/^>/, ''))));
  for (const row of rows) table.push([...row]);
  const lines = table.toString().split('\n');
  context.stdout.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
}
