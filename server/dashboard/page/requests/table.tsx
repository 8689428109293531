/** Rows as a table; the first column names each row. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Column } from './columns.ts';
import { NARROW, useMedia } from '../media.ts';

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
  const scroller = useRef<HTMLDivElement>(null);
  const isBroad = useIsBroad(scroller);
  return (
    <div
      class="scroll"
      ref={scroller}
      // Whatever can be scrolled must be reached without a mouse.
      {...(isBroad && { tabIndex: 0, role: 'group', 'aria-label': columns[0]?.header ?? '' })}
    >
      <table>
        <thead>
          <tr>
            {columns.map(({ header, isRight }) => (
              <th key={header} scope="col" class={isRight === true ? 'num' : ''}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map(({ header, isRight, text, tone, cell }, at) => {
                const content = cell === undefined ? text(row) : cell(row);
                const kind = TONES[tone?.(row) ?? 'plain'];
                return at === 0 ? (
                  <th key={header} scope="row">
                    {content}
                  </th>
                ) : (
                  <td key={header} class={`${isRight === true ? 'num ' : ''}${kind}`}>
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

/** Whether more stands in an element than it is broad. */
function useIsBroad(container: { readonly current: HTMLElement | null }): boolean {
  const [isBroad, setBroad] = useState(false);
  useEffect(() => {
    const element = container.current!;
    const resized = new ResizeObserver(() => setBroad(element.scrollWidth > element.clientWidth));
    for (const one of [element, ...element.children]) resized.observe(one);
    return () => resized.disconnect();
  }, []);
  return isBroad;
}

const TONES = { good: 'good', warn: 'warn', bad: 'bad-text', plain: '' } as const;

/** `columns`, with `cell` in the one of this head. */
export function withCell<T>(
  columns: readonly TableColumn<T>[],
  header: string,
  cell: (row: T) => ComponentChildren,
): readonly TableColumn<T>[] {
  return columns.map((column) => (column.header === header ? { ...column, cell } : column));
}
