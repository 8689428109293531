/** Parses a dashboard's query: which requests it wants, and in which order. */
import type { RowFilter } from '../../stages/ledger/queries.ts';
import { NEWEST_FIRST, ROW_ORDERS } from '../../stages/ledger/row-order.ts';
import type { RowOrder } from '../../stages/ledger/row-order.ts';
import type { StackKey } from '../../stages/ledger/stacked-series.ts';
import { invalidQuery } from '../http/query.ts';
import { ISO_DATE, parseIsoDate } from '../routes/iso-date.ts';

const OUTCOMES = ['ok', 'error', 'cancelled', 'partial'] as const;
const LONGEST = 200;

/**
 * Parses `since`, `until` (ISO 8601), `model` (part of a name), `provider`, `client`, `session`,
 * `key`, `project`, `q` (search words), `outcome` and `failed=1`; empty or missing ones do not
 * filter. Throws `bad_request`.
 */
export function toRowFilter(query: URLSearchParams): RowFilter {
  const text = (name: string): string | undefined => {
    const value = query.get(name) ?? '';
    if (value.length > LONGEST) throw invalidQuery(name, `at most ${LONGEST} characters`);
    return value === '' ? undefined : value;
  };
  const moment = (name: string): number | undefined => {
    const value = text(name);
    const atMs = value === undefined ? undefined : parseIsoDate(value);
    if (value !== undefined && atMs === undefined) throw invalidQuery(name, ISO_DATE);
    return atMs;
  };
  const outcomeParam = text('outcome');
  const outcome = OUTCOMES.find((known) => known === outcomeParam);
  if (outcomeParam !== undefined && outcome === undefined)
    throw invalidQuery('outcome', `one of ${OUTCOMES.join(', ')}`);
  const untilMs = moment('until');
  const model = text('model');
  const provider = text('provider');
  const client = text('client');
  const sessionId = text('session');
  const keyLabel = text('key');
  const project = text('project');
  const words = text('q')?.split(/\s+/).filter(Boolean) ?? [];
  return {
    sinceMs: moment('since') ?? 0,
    ...(untilMs !== undefined && { untilMs }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(client !== undefined && { client }),
    ...(sessionId !== undefined && { sessionId }),
    ...(keyLabel !== undefined && { keyLabel }),
    ...(project !== undefined && { project }),
    ...(words.length > 0 && { words }),
    ...(outcome !== undefined && { outcome }),
    ...(text('failed') === '1' && { failed: true }),
  };
}

/** Public names for the columns of `by`. */
const STACKS: Readonly<Record<string, StackKey>> = {
  model: 'model',
  project: 'project',
  key: 'keyLabel',
  client: 'client',
};

export const STACK_NAMES = Object.keys(STACKS);

/** Parses `by`; default: the model. Throws `bad_request`. */
export function toStackKey(query: URLSearchParams): StackKey {
  const groupBy = query.get('by') ?? 'model';
  const key = Object.hasOwn(STACKS, groupBy) ? STACKS[groupBy] : undefined;
  if (key === undefined) throw invalidQuery('by', `one of ${STACK_NAMES.join(', ')}`);
  return key;
}

/** Parses `sort`, the name of a figure in the JSON, and `order=asc`. Throws `bad_request`. */
export function toRowOrder(query: URLSearchParams): RowOrder {
  const sort = query.get('sort') ?? NEWEST_FIRST.by;
  const by = ROW_ORDERS.find((order) => order === sort);
  if (by === undefined) throw invalidQuery('sort', `one of ${ROW_ORDERS.join(', ')}`);
  const way = query.get('order') ?? 'desc';
  if (way !== 'asc' && way !== 'desc') throw invalidQuery('order', 'asc or desc');
  return { by, isAscending: way === 'asc' };
}
