/** Rows as a table; the first column names each row. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Column } from './columns.ts';
import { NARROW, useMedia } from '../media.ts';

/** A column that may show more than text, such as a link. */
export interface TableColumn<T> extends Column<T> {
  readonly cell?: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly T[];
}

/** On a narrow screen the most important columns come first; the others need scrolling. */
export function Table<T>({ columns: all, rows }: TableProps<T>) {
  const columns = useMedia(NARROW) ? all.toSorted((one, other) => one.rank - other.rank) : all;
  const scroller = useRef<HTMLDivElement>(null);
  const isBroad = useIsBroad(scroller);
  return (
    <div
      class="scroll"
      ref={scroller}
      // A scrollable area must be reachable without a mouse.
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

/** Returns whether the content of an element is wider than the element. */
function useIsBroad(container: { readonly current: HTMLElement | null }): boolean {
  const [isBroad, setBroad] = useState(false);
  useEffect(() => {
    const element = container.current!;
    const resized = new ResizeObserver(() => setBroad(element.scrollWidth > element.clientWidth));
    for (const entry of [element, ...element.children]) resized.observe(entry);
    return () => resized.disconnect();
  }, []);
  return isBroad;
}

const TONES = { good: 'good', warn: 'warn', bad: 'bad-text', plain: '' } as const;

/** Returns `columns` with `cell` added to the one with this header. */
export function withCell<T>(
  columns: readonly TableColumn<T>[],
  header: string,
  cell: (row: T) => ComponentChildren,
): readonly TableColumn<T>[] {
  return columns.map((column) => (column.header === header ? { ...column, cell } : column));
}
