/** The first screen: is it working, what did it save, what went wrong, what may go wrong soon. */
import type { ComponentChildren, VNode } from 'preact';
import type { LiveState, ReportJson, RequestJson } from '../contract.ts';
import { CacheLanes } from './charts/cache-lanes.tsx';
import { Charts } from './charts/charts.tsx';
import { causeOf, concernsOf, partiesOf } from './conditions.ts';
import type { NextStep } from './conditions.ts';
import { FirstRequest } from './first-request.tsx';
import { wholeNumber } from './format.ts';
import { state } from './live.ts';
import { Link } from './frame/link.tsx';
import { useRoute } from './frame/location.ts';
import { PlanList } from './plans.tsx';
import { ProviderList } from './providers.tsx';
import { rangeOf } from './frame/ranges.ts';
import { useReport } from './report-data.ts';
import { useRequests } from './requests/requests-data.ts';
import { USUAL_COLUMNS } from './requests/request-columns.tsx';
import { RequestCells, RequestHeader, gridOf } from './requests/requests.tsx';
import { useStore } from './store.ts';
import { headlineFigures, outlookFacts } from './summary.ts';
import { Fault, TextWithCode } from './message-text.tsx';

const NEWEST = 8;

export function Overview() {
  const present = useCurrentData('Overview');
  if ('pending' in present) return present.pending;
  const { live, report, rows, query } = present;
  if (isUnused(present)) return <FirstRequest />;
  return (
    <div class="page">
      <h1 class="hidden">Overview</h1>
      <Reasons live={live} />
      <Figures live={live} report={report} title={rangeOf(query).title} />
      <Outlook live={live} report={report} />
      <div class="columns narrow">
        <RecentFailures report={report} />
        <ProviderList live={live} />
        <CacheLanes live={live} report={report} />
        <PlanList live={live} />
      </div>
      {report.totals.requests > 0 && <Charts report={report} query={query} />}
      <NewestRequests rows={rows} max={NEWEST} />
    </div>
  );
}

export interface CurrentData {
  readonly live: LiveState;
  readonly report: ReportJson;
  readonly rows: readonly RequestJson[] | undefined;
  readonly query: URLSearchParams;
}

/**
 * Returns true if there are no requests at all, neither in an unfiltered range nor in this session.
 */
export function isUnused({ live, report, query }: CurrentData): boolean {
  return report.totals.requests === 0 && live.session.requests === 0 && query.size === 0;
}

/** Returns the data of the current range; until it has loaded, a placeholder under `title`. */
export function useCurrentData(title: string): CurrentData | { readonly pending: VNode } {
  const { query } = useRoute();
  const live = useStore(state);
  const { value: report, error } = useReport(query);
  const { rows } = useRequests(query);
  if (live !== undefined && report !== undefined) return { live, report, rows, query };
  return {
    pending: (
      <>
        <h1 class="hidden">{title}</h1>
        {error === undefined ? <p class="quiet pad">Loading…</p> : <Fault text={error} />}
      </>
    ),
  };
}

interface NewestProps {
  readonly rows: readonly RequestJson[] | undefined;
  readonly max: number;
  /** Shown if there are no rows. */
  readonly none?: ComponentChildren;
}

export function NewestRequests({ rows, max, none }: NewestProps) {
  return (
    <section class="card flush" aria-labelledby="newest">
      <header>
        <h2 id="newest">Newest requests</h2>
        <Link to="requests">All requests</Link>
      </header>
      {rows === undefined || rows.length === 0 ? (
        <p class="quiet inset">{none ?? 'None in this range of time.'}</p>
      ) : (
        <div
          class="list short"
          role="table"
          aria-label="Newest requests"
          style={gridOf(USUAL_COLUMNS)}
        >
          <div class="list-head" role="row">
            <RequestHeader />
          </div>
          {rows.slice(0, max).map((row) => (
            <div class="list-row static" role="row" key={row.request_id}>
              <RequestCells row={row} isFirstStop />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

export function Reasons({ live }: { readonly live: LiveState }) {
  const concerns = concernsOf(live);
  if (concerns.length === 0) return null;
  const worst = concerns[0]?.tone;
  return (
    <section class={`banner ${worst ?? ''}`} aria-label="What is wrong">
      {concerns.map(({ text, tone, next }) => (
        <p key={text} class={tone}>
          <TextWithCode text={text} /> {next !== undefined && <Next step={next} />}
        </p>
      ))}
    </section>
  );
}

function Next({ step }: { readonly step: NextStep }) {
  return 'view' in step ? (
    <Link to={step.view}>{step.name}</Link>
  ) : (
    <a href={`/docs/${step.docs}`}>{step.name}</a>
  );
}

/** A row of small figures: failures that clients do not see, and limits about to be reached. */
export function Outlook({ live, report }: Pick<FiguresProps, 'live' | 'report'>) {
  return (
    <section class="outlook" aria-label="What is about to go wrong">
      {outlookFacts(live, report).map(({ id, name, value, detail, tone }) => (
        <div key={id} class={tone ?? ''}>
          <h2>{name}</h2>
          <b data-figure={id}>{value}</b>
          <p>{detail}</p>
        </div>
      ))}
    </section>
  );
}

interface FiguresProps {
  readonly live: LiveState;
  readonly report: ReportJson;
  readonly title: string;
}

export function Figures({ live, report, title }: FiguresProps) {
  const { cost, cost_without: without } = report.totals;
  return (
    <section class="figures" aria-label={title}>
      {headlineFigures(live, report).map(({ id, name, value, detail, tone }) => (
        <div key={id} class={`figure${tone === 'bad' ? ' bad' : ''}`}>
          <h2>{name}</h2>
          <b data-figure={id} {...(tone === 'good' && { class: tone })}>
            {value}
          </b>
          <p>{detail}</p>
          {id === 'cost' && <PaidBar paid={cost} without={without} />}
        </div>
      ))}
    </section>
  );
}

function PaidBar({
  paid,
  without,
}: {
  readonly paid: number | null;
  readonly without: number | null;
}) {
  if (paid === null || without === null || without <= 0) return null;
  const width = Math.min(100, Math.max(0, (100 * paid) / without));
  return (
    <div class="paid-bar" aria-hidden="true">
      <i style={{ width: `${width}%` }} />
    </div>
  );
}

function RecentFailures({ report: { failures } }: { readonly report: ReportJson }) {
  return (
    <section class="card">
      <header>
        <h2>What went wrong</h2>
        {failures.length > 0 && <Link to="errors">All causes</Link>}
      </header>
      {failures.length === 0 ? (
        <p class="quiet">Nothing failed.</p>
      ) : (
        <ul class="lines two">
          {failures.slice(0, 5).map((group) => (
            <li key={group.last_request_id}>
              <Link to="request" id={group.last_request_id} title="The newest of them">
                {causeOf(group)}
              </Link>
              <b class="num">{wholeNumber(group.requests)}</b>
              <span class="quiet">{partiesOf(group)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
