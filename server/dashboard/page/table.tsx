/** Rows as a table; the first column names each row. */
import type { ComponentChildren } from 'preact';
import type { Column } from './columns.ts';
import { NARROW, useMedia } from './media.ts';

/** A column of the page may show more than text, such as a link. */
export interface TableColumn<T> extends Column<T> {
  readonly cell?: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly T[];
}

/** Where not all columns fit, those that matter most come first; the others are scrolled to. */
export function Table<T>({ columns: all, rows }: TableProps<T>) {
  const columns = useMedia(NARROW) ? all.toSorted((one, other) => one.rank - other.rank) : all;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {columns.map(({ head, isRight }) => (
              <th key={head} scope="col" class={isRight === true ? 'num' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map(({ head, isRight, text, tone, cell }, at) => {
                const content = cell === undefined ? text(row) : cell(row);
                const kind = TONES[tone?.(row) ?? 'plain'];
                return at === 0 ? (
                  <th key={head} scope="row">
                    {content}
                  </th>
                ) : (
                  <td key={head} class={`${isRight === true ? 'num ' : ''}${kind}`}>
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const TONES = { good: 'good', warn: 'warn', bad: 'bad-text', plain: '' } as const;

/** `columns`, with `cell` in the one of this head. */
export function withCell<T>(
  columns: readonly TableColumn<T>[],
  head: string,
  cell: (row: T) => ComponentChildren,
): readonly TableColumn<T>[] {
  return columns.map((column) => (column.head === head ? { ...column, cell } : column));
}
