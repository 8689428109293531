/** The list of requests, filtered, as they end. */
import type { RequestJson } from '../contract.ts';
import { FilterBar } from './filter-bar.tsx';
import { dollars, duration, short, orDash, time } from './format.ts';
import { localMoment } from './local-time.ts';
import { addressOf, follow, isFiltered } from './location.ts';
import { outcomeOf, outcomeTone } from './request-facts.ts';
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

const HEADERS = [
  ['time', 'Time'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['num raw', 'In'],
  ['num sent', 'Sent'],
  ['num saved', 'Saved'],
  ['num out', 'Out'],
  ['num cost', 'Cost'],
  ['num latency', 'Time taken'],
  ['outcome', 'Outcome'],
] as const;

export function RequestHeader() {
  return (
    <>
      {HEADERS.map(([name, title]) => (
        <span key={name} class={`cell ${name}`} role="columnheader">
          {title}
        </span>
      ))}
    </>
  );
}

export function RequestCells({
  row,
  isFirstStop,
}: {
  readonly row: RequestJson;
  readonly isFirstStop: boolean;
}) {
  return (
    <>
      <span class="cell time" role="cell">
        <a
          data-row-link
          class="cover"
          href={addressOf(`request/${encodeURIComponent(row.request_id)}`)}
          onClick={follow}
          tabIndex={isFirstStop ? 0 : -1}
          title={localMoment(row.timestamp)}
        >
          {time(row.timestamp)}
        </a>
      </span>
      <span class="cell model" role="cell">
        <ModelName row={row} />
      </span>
      <span class="cell provider" role="cell">
        {orDash(row.provider)}
      </span>
      <span class="cell num raw" role="cell">
        {short(row.input_tokens)}
      </span>
      <span class="cell num sent" role="cell">
        {short(row.sent_input_tokens)}
      </span>
      <span class={`cell num saved${(row.tokens_saved ?? 0) > 0 ? ' good' : ''}`} role="cell">
        {short(row.tokens_saved)}
      </span>
      <span class="cell num out" role="cell">
        {short(row.output_tokens)}
      </span>
      <span class="cell num cost" role="cell">
        {dollars(row.cost)}
      </span>
      <span class="cell num latency" role="cell">
        {duration(row.latency_ms)}
      </span>
      <span class="cell outcome" role="cell">
        <Outcome row={row} />
      </span>
    </>
  );
}

/** The model that answered; before it the one that was asked for, where it is another. */
export function ModelName({ row }: { readonly row: RequestJson }) {
  const { model_requested: asked, model_resolved: resolved } = row;
  if (asked === null || resolved === null || asked === resolved)
    return <span title={resolved ?? asked ?? ''}>{orDash(resolved ?? asked)}</span>;
  return (
    <span title={`asked for ${asked}, answered by ${resolved}`}>
      <span class="quiet">
        {orDash(asked)} <span aria-hidden="true">→</span>
        <span class="hidden">, answered by</span>{' '}
      </span>
      {orDash(resolved)}
    </span>
  );
}

export function Outcome({ row }: { readonly row: RequestJson }) {
  return <span class={`mark ${outcomeTone(row)}`}>{outcomeOf(row)}</span>;
}
