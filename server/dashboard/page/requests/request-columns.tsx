/** The columns available in a list of requests, how the URL selects them, and what each shows. */
import type { ComponentChildren } from 'preact';
import type { RequestJson } from '../../contract.ts';
import type { RowOrderKey } from '../../contract.ts';
import { savedTone } from './columns.ts';
import type { Tone } from '../../../words/problems.ts';
import { CopyButton } from '../copy.tsx';
import { dollars, duration, orDash, short, time, wholeNumber } from '../format.ts';
import { Link } from '../frame/link.tsx';
import { localMoment } from '../local-time.ts';
import { answeringModelOf, outcomeOf, outcomeTone } from '../request/request-facts.ts';

export interface CellProps {
  readonly row: RequestJson;
  readonly isFirstStop: boolean;
}

export interface RequestColumn {
  /** Used in URLs and as a CSS class of its cells. */
  readonly id: string;
  readonly title: string;
  /** Its track in the list's grid. */
  readonly width: string;
  readonly isRight?: true;
  /** The field that a click on its header sorts by. */
  readonly order: RowOrderKey;
  readonly content: (props: CellProps) => ComponentChildren;
  readonly tone?: (row: RequestJson) => Tone | undefined;
}

const NAME = 'minmax(5rem, 0.8fr)';
const FIGURE = 'minmax(4rem, 5.2rem)';
const LONG_FIGURE = 'minmax(4.5rem, 5.6rem)';

function nameColumn(
  id: string,
  title: string,
  order: RowOrderKey,
  text: (row: RequestJson) => string | null | undefined,
  width = NAME,
): RequestColumn {
  const content = ({ row }: CellProps) => {
    const words = orDash(text(row));
    return <span title={words}>{words}</span>;
  };
  return { id, title, width, order, content };
}

function figureColumn(
  id: string,
  title: string,
  order: RowOrderKey,
  text: (row: RequestJson) => string,
  width = FIGURE,
): RequestColumn {
  return { id, title, width, isRight: true, order, content: ({ row }) => text(row) };
}

/** In display order. The first cannot be hidden: it is the row's link. */
export const REQUEST_COLUMNS: readonly RequestColumn[] = [
  {
    id: 'time',
    title: 'Time',
    width: '8.2rem',
    order: 'timestamp',
    content: (props) => <TimeLink {...props} />,
  },
  {
    id: 'model',
    title: 'Model',
    width: 'minmax(9rem, 1.6fr)',
    order: 'model',
    content: ({ row }) => <ModelName row={row} />,
  },
  nameColumn('provider', 'Provider', 'provider', (row) => row.provider),
  nameColumn('agent', 'Agent', 'client', (row) => row.client, 'minmax(6.2rem, 0.8fr)'),
  nameColumn('project', 'Project', 'project', (row) => row.project),
  nameColumn('key', 'Key', 'key', (row) => row.key),
  nameColumn('conversation', 'Conversation', 'session_id', (row) => row.session_id),
  figureColumn('raw', 'In', 'input_tokens', (row) => short(row.input_tokens)),
  figureColumn('sent', 'Sent', 'sent_input_tokens', (row) => short(row.sent_input_tokens)),
  {
    ...figureColumn('saved', 'Saved', 'tokens_saved', (row) => short(row.tokens_saved)),
    tone: (row) => savedTone(row.tokens_saved),
  },
  figureColumn(
    'read',
    'Cache read',
    'provider_cache_read_tokens',
    (row) => short(row.provider_cache_read_tokens),
    LONG_FIGURE,
  ),
  figureColumn('out', 'Out', 'output_tokens', (row) => short(row.output_tokens)),
  figureColumn('cost', 'Cost', 'cost', (row) => dollars(row.cost), LONG_FIGURE),
  figureColumn('first', 'First byte', 'ttfb_ms', (row) => duration(row.ttfb_ms), LONG_FIGURE),
  figureColumn(
    'latency',
    'Time taken',
    'latency_ms',
    (row) => duration(row.latency_ms),
    LONG_FIGURE,
  ),
  figureColumn('tries', 'Attempts', 'attempts', (row) => wholeNumber(row.attempts)),
  {
    id: 'outcome',
    title: 'Outcome',
    width: 'minmax(6.5rem, 8rem)',
    order: 'outcome',
    content: ({ row }) => <Outcome row={row} />,
  },
  {
    id: 'id',
    title: 'Id',
    width: 'minmax(7rem, 0.8fr)',
    order: 'request_id',
    content: ({ row }) => (
      <>
        <CopyButton text={row.request_id} what="the id" /> {row.request_id}
      </>
    ),
  },
];

/** Columns of lists without a choice of columns, on all other screens. */
const USUAL = 'time model provider raw sent saved out cost latency outcome'.split(' ');
export const USUAL_COLUMNS = REQUEST_COLUMNS.filter(({ id }) => USUAL.includes(id));

/** Default columns of the list of requests. */
const LISTED = new Set([...USUAL, 'agent', 'project', 'key']);

/** Returns the columns selected in the URL, in display order. */
export function columnsOf(query: URLSearchParams): readonly RequestColumn[] {
  const named_ = query.get('columns')?.split(',');
  const isShown = (id: string): boolean => named_?.includes(id) ?? LISTED.has(id);
  return REQUEST_COLUMNS.filter(({ id }) => id === 'time' || isShown(id));
}

/** Returns `columns` for the URL after showing or hiding a column; null if that is the default. */
export function withColumn(query: URLSearchParams, id: string, isShown: boolean): string | null {
  const now = new Set(columnsOf(query).map((column) => column.id));
  if (isShown) now.add(id);
  else now.delete(id);
  const same = now.size === LISTED.size && [...now].every((one) => LISTED.has(one));
  return same
    ? null
    : REQUEST_COLUMNS.flatMap((column) => (now.has(column.id) ? [column.id] : [])).join();
}

function TimeLink({ row, isFirstStop }: CellProps) {
  return (
    <Link
      data-row-link
      class="cover"
      to="request"
      id={row.request_id}
      tabIndex={isFirstStop ? 0 : -1}
      title={localMoment(row.timestamp)}
    >
      {time(row.timestamp)}
    </Link>
  );
}

/**
 * The answering model, then the requested one if it differs, so that a narrow column cuts the
 * latter.
 */
export function ModelName({ row }: { readonly row: RequestJson }) {
  const { model_requested: requested, model_resolved: resolved } = row;
  const answering = answeringModelOf(row);
  if (requested === null || resolved === null || requested === resolved)
    return <span title={answering}>{answering}</span>;
  return (
    <span title={`${resolved} answered; ${requested} was requested`}>
      {answering} <span class="quiet">for {requested}</span>
    </span>
  );
}

export function Outcome({ row }: { readonly row: RequestJson }) {
  return <span class={`mark ${outcomeTone(row)}`}>{outcomeOf(row)}</span>;
}
