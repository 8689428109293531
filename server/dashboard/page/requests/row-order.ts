/**
 * The order of the list of requests: its form in the URL, and a comparison equal to the proxy's.
 */
import type { RequestJson } from '../../contract.ts';
import type { RowOrder, RowOrderKey } from '../../contract.ts';
import { REQUEST_COLUMNS } from './request-columns.tsx';

const NEWEST_FIRST: RowOrder = { by: 'timestamp', isAscending: false };

/** Parses `sort`: a column id, prefixed with `-` for descending order. Newest first by default. */
export function orderOf(query: URLSearchParams): RowOrder {
  const sort = query.get('sort') ?? '';
  const column = REQUEST_COLUMNS.find(({ id }) => id === sort.replace('-', ''));
  if (column === undefined) return NEWEST_FIRST;
  return { by: column.order, isAscending: !sort.startsWith('-') };
}

/** Returns `sort` for the URL; null for newest first, the default. */
export function sortOf(id: string, isAscending: boolean): string | null {
  if (id === 'time' && !isAscending) return null;
  return `${isAscending ? '' : '-'}${id}`;
}

type Compare = (one: RequestJson, other: RequestJson) => number;

/** Returns the proxy's comparison: missing values last in both directions, ties newest first. */
export function comparatorOf({ by, isAscending }: RowOrder): Compare {
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
