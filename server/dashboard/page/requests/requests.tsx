/** The list of requests, filtered, ordered by any column and updated as requests end. */
import { useState } from 'preact/hooks';
import type { RequestJson } from '../../contract.ts';
import type { RowOrder } from '../../contract.ts';
import { FilterBar } from './filter-bar.tsx';
import { isFiltered, setFilters } from '../frame/location.ts';
import { NARROW, useMedia } from '../media.ts';
import { REQUEST_COLUMNS, USUAL_COLUMNS, columnsOf, withColumn } from './request-columns.tsx';
import type { CellProps, RequestColumn } from './request-columns.tsx';
import { useRequests } from './requests-data.ts';
import { orderOf, sortOf } from './row-order.ts';
import { VirtualList } from './virtual-list.tsx';
import { Fault } from '../message-text.tsx';

const ROW_PX = 34;
const NARROW_ROW_PX = 60;

export function RequestsView({ query }: { readonly query: URLSearchParams }) {
  const { rows, complete, error, more } = useRequests(query);
  const isNarrow = useMedia(NARROW);
  return (
    <section class="fill" aria-labelledby="requests-title">
      <h1 id="requests-title" class="hidden">
        Requests
      </h1>
      <FilterBar query={query} count={rows?.length} complete={complete}>
        {isNarrow ? <SortChoice query={query} /> : <ColumnChoice query={query} />}
      </FilterBar>
      <Fault text={error} />
      {rows?.length === 0 && (
        <p class="quiet pad">
          {isFiltered(query) ? 'No request matches these filters.' : 'None in this range of time.'}
        </p>
      )}
      {rows !== undefined && rows.length > 0 && (
        <RequestList rows={rows} query={query} onEnd={more} />
      )}
    </section>
  );
}

interface ListProps {
  readonly rows: readonly RequestJson[];
  readonly query: URLSearchParams;
  readonly onEnd: () => void;
}

function RequestList({ rows, query, onEnd }: ListProps) {
  const isNarrow = useMedia(NARROW);
  const order = orderOf(query);
  // A phone only has room for the usual columns, in a layout of their own.
  const columns = isNarrow ? USUAL_COLUMNS : columnsOf(query);
  const sorted = columns.find((column) => column.order === order.by)?.title.toLowerCase();
  return (
    <VirtualList
      items={rows}
      keyOf={(row) => row.request_id}
      rowHeight={isNarrow ? NARROW_ROW_PX : ROW_PX}
      label={
        order.by === 'timestamp' && !order.isAscending
          ? 'Requests, newest first'
          : `Requests by ${sorted ?? 'another column'}`
      }
      grid={gridOf(columns)}
      header={<RequestHeader columns={columns} order={order} />}
      render={(row, isFirstStop) => (
        <RequestCells row={row} isFirstStop={isFirstStop} columns={columns} />
      )}
      onEnd={onEnd}
    />
  );
}

const GAP_REM = 0.8;
const PADDING_REM = 2;

/** Returns the grid of a list as CSS variables: its tracks and its minimum width. */
export function gridOf(columns: readonly RequestColumn[]): Readonly<Record<string, string>> {
  const min = columns.reduce((sum, { width }) => {
    const [first] = /[\d.]+(?=rem)/.exec(width) ?? ['5'];
    return sum + Number(first) + GAP_REM;
  }, PADDING_REM);
  return { '--tracks': columns.map(({ width }) => width).join(' '), '--least': `${min}rem` };
}

interface HeaderProps {
  readonly columns?: readonly RequestColumn[];
  /** The current order; without it the headers are not clickable. */
  readonly order?: RowOrder;
}

export function RequestHeader({ columns = USUAL_COLUMNS, order }: HeaderProps) {
  return (
    <>
      {columns.map((column) => (
        <ColumnHead key={column.id} column={column} {...(order && { order })} />
      ))}
    </>
  );
}

/**
 * A first click puts the largest, newest or alphabetically first at the top; a second click
 * reverses that.
 */
function ColumnHead({
  column,
  order,
}: {
  readonly column: RequestColumn;
  readonly order?: RowOrder;
}) {
  const { id, title, isRight } = column;
  const classes = `cell ${id}${isRight ? ' num' : ''}`;
  if (order === undefined)
    return (
      <span class={classes} role="columnheader">
        {title}
      </span>
    );
  const isSorted = order.by === column.order;
  const isFirstAscending = isRight !== true && id !== 'time';
  const isNextAscending = isSorted ? !order.isAscending : isFirstAscending;
  return (
    <span
      class={classes}
      role="columnheader"
      aria-sort={isSorted ? (order.isAscending ? 'ascending' : 'descending') : 'none'}
    >
      <button
        type="button"
        class="head"
        onClick={() => setFilters({ sort: sortOf(id, isNextAscending) })}
      >
        {title}
        {isSorted && <span aria-hidden="true">{order.isAscending ? ' ↑' : ' ↓'}</span>}
      </button>
    </span>
  );
}

export function RequestCells({
  columns = USUAL_COLUMNS,
  ...props
}: CellProps & { readonly columns?: readonly RequestColumn[] }) {
  return (
    <>
      {columns.map(({ id, isRight, content, tone }) => (
        <span
          key={id}
          class={`cell ${id}${isRight ? ' num' : ''} ${tone?.(props.row) ?? ''}`}
          role="cell"
        >
          {content(props)}
        </span>
      ))}
    </>
  );
}

/** Replaces the column headers, which a phone does not show, for choosing the order. */
function SortChoice({ query }: { readonly query: URLSearchParams }) {
  const sort = query.get('sort') ?? '-time';
  return (
    <label>
      <span>Sort</span>
      <select
        name="sort"
        value={sort}
        onChange={({ currentTarget: { value } }) =>
          setFilters({ sort: sortOf(value.replace('-', ''), !value.startsWith('-')) })
        }
      >
        {REQUEST_COLUMNS.flatMap(({ id, title }) => [
          <option key={`-${id}`} value={`-${id}`}>
            {title} ↓
          </option>,
          <option key={id} value={id}>
            {title} ↑
          </option>,
        ])}
      </select>
    </label>
  );
}

function ColumnChoice({ query }: { readonly query: URLSearchParams }) {
  const shown = new Set(columnsOf(query).map(({ id }) => id));
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="choice" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>Columns</summary>
      {isOpen && (
        <fieldset>
          <legend class="hidden">Columns</legend>
          {REQUEST_COLUMNS.slice(1).map(({ id, title }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={shown.has(id)}
                onChange={({ currentTarget: { checked } }) =>
                  setFilters({ columns: withColumn(query, id, checked) }, true)
                }
              />
              <span>{title}</span>
            </label>
          ))}
        </fieldset>
      )}
    </details>
  );
}
