/** The order of the list of requests, as its address says and as the proxy gives it. */
import type { RequestJson } from '../../contract.ts';
import type { RowOrder, RowOrderKey } from '../../contract.ts';
import { REQUEST_COLUMNS } from './request-columns.tsx';

const NEWEST_FIRST: RowOrder = { by: 'timestamp', isAscending: false };

/** Reads `sort`, the id of a column, with `-` before it where the greatest is first. */
export function orderOf(query: URLSearchParams): RowOrder {
  const named = query.get('sort') ?? '';
  const column = REQUEST_COLUMNS.find(({ id }) => id === named.replace('-', ''));
  if (column === undefined) return NEWEST_FIRST;
  return { by: column.order, isAscending: !named.startsWith('-') };
}

/** `sort` of an address; null for the newest first. */
export function sortOf(id: string, isAscending: boolean): string | null {
  if (id === 'time' && !isAscending) return null;
  return `${isAscending ? '' : '-'}${id}`;
}

type Compare = (one: RequestJson, other: RequestJson) => number;

/** The order of the proxy: what was not measured last either way, of equals the newest first. */
export function comparing({ by, isAscending }: RowOrder): Compare {
  const sign = isAscending ? 1 : -1;
  return (one, other) => {
    const a = valueOf(one, by);
    const b = valueOf(other, by);
    if (a === null || b === null) {
      if (a !== b) return a === null ? 1 : -1;
    } else if (a !== b) return a < b ? -sign : sign;
    if (one.timestamp === other.timestamp) return 0;
    return one.timestamp < other.timestamp ? 1 : -1;
  };
}

function valueOf(row: RequestJson, by: RowOrderKey): string | number | null {
  return row[by] ?? null;
}
