/** The list of requests, filtered, as they end. */
import type { ComponentChildren } from 'preact';
import type { RequestJson } from '../contract.ts';
import { savedTone } from './columns.ts';
import type { Tone } from './columns.ts';
import { FilterBar } from './filter-bar.tsx';
import { dollars, duration, short, orDash, time } from './format.ts';
import { localMoment } from './local-time.ts';
import { Link } from './link.tsx';
import { isFiltered } from './location.ts';
import { answeringModelOf, outcomeOf, outcomeTone } from './request-facts.ts';
import { useRequests } from './requests-data.ts';
import { NARROW, useMedia } from './media.ts';
import { VirtualList } from './virtual-list.tsx';
import { Fault } from './words.tsx';

const ROW_PX = 34;
const NARROW_ROW_PX = 60;

export function RequestsView({ query }: { readonly query: URLSearchParams }) {
  const { rows, complete, error, more } = useRequests(query);
  return (
    <section class="fill" aria-labelledby="requests-title">
      <h1 id="requests-title" class="hidden">
        Requests
      </h1>
      <FilterBar query={query} count={rows?.length} complete={complete} />
      <Fault text={error} />
      {rows?.length === 0 && (
        <p class="quiet pad">
          {isFiltered(query) ? 'No request matches these filters.' : 'None in this range of time.'}
        </p>
      )}
      {rows !== undefined && rows.length > 0 && <RequestList rows={rows} onEnd={more} />}
    </section>
  );
}

interface ListProps {
  readonly rows: readonly RequestJson[];
  readonly onEnd?: () => void;
}

function RequestList({ rows, onEnd }: ListProps) {
  const isNarrow = useMedia(NARROW);
  return (
    <VirtualList
      items={rows}
      keyOf={(row) => row.request_id}
      rowHeight={isNarrow ? NARROW_ROW_PX : ROW_PX}
      label="Requests, newest first"
      header={<RequestHeader />}
      render={(row, isFirstStop) => <RequestCells row={row} isFirstStop={isFirstStop} />}
      {...(onEnd && { onEnd })}
    />
  );
}

interface CellProps {
  readonly row: RequestJson;
  readonly isFirstStop: boolean;
}

/** Classes, head and content of each column. */
const COLUMNS: readonly (readonly [
  name: string,
  title: string,
  content: (props: CellProps) => ComponentChildren,
  tone?: (row: RequestJson) => Tone | undefined,
])[] = [
  ['time', 'Time', (props) => <TimeLink {...props} />],
  ['model', 'Model', ({ row }) => <ModelName row={row} />],
  ['provider', 'Provider', ({ row }) => orDash(row.provider)],
  ['num raw', 'In', ({ row }) => short(row.input_tokens)],
  ['num sent', 'Sent', ({ row }) => short(row.sent_input_tokens)],
  [
    'num saved',
    'Saved',
    ({ row }) => short(row.tokens_saved),
    (row) => savedTone(row.tokens_saved),
  ],
  ['num out', 'Out', ({ row }) => short(row.output_tokens)],
  ['num cost', 'Cost', ({ row }) => dollars(row.cost)],
  ['num latency', 'Time taken', ({ row }) => duration(row.latency_ms)],
  ['outcome', 'Outcome', ({ row }) => <Outcome row={row} />],
];

export function RequestHeader() {
  return (
    <>
      {COLUMNS.map(([name, title]) => (
        <span key={name} class={`cell ${name}`} role="columnheader">
          {title}
        </span>
      ))}
    </>
  );
}

export function RequestCells(props: CellProps) {
  return (
    <>
      {COLUMNS.map(([name, , content, tone]) => (
        <span key={name} class={`cell ${name} ${tone?.(props.row) ?? ''}`} role="cell">
          {content(props)}
        </span>
      ))}
    </>
  );
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

/** The model that answered, and after it the one that was asked for where it is another: a narrow column cuts that. */
export function ModelName({ row }: { readonly row: RequestJson }) {
  const { model_requested: asked, model_resolved: resolved } = row;
  const answering = answeringModelOf(row);
  if (asked === null || resolved === null || asked === resolved)
    return <span title={answering}>{answering}</span>;
  return (
    <span title={`${resolved} answered; ${asked} was asked for`}>
      {answering} <span class="quiet">for {asked}</span>
    </span>
  );
}

export function Outcome({ row }: { readonly row: RequestJson }) {
  return <span class={`mark ${outcomeTone(row)}`}>{outcomeOf(row)}</span>;
}
