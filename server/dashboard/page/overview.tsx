/** The first screen: is it working, what did it save, what went wrong. */
import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { LiveState, ReportJson, RequestJson } from '../contract.ts';
import { CacheLanes } from './cache-lanes.tsx';
import { Chart } from './chart.tsx';
import { causeOf, reasonsOf } from './conditions.ts';
import { FirstRequest } from './first-request.tsx';
import { dollars, duration, short, whole } from './format.ts';
import { state } from './live.ts';
import { addressOf, follow, useRoute } from './location.ts';
import { ProviderList } from './providers.tsx';
import { rangeOf } from './ranges.ts';
import { useReport } from './report-data.ts';
import { useRequests } from './requests-data.ts';
import { RequestCells, RequestHeader } from './requests.tsx';
import { seriesOf } from './series.ts';
import { useStore } from './store.ts';
import { headlineFigures } from './summary.ts';
import { Fault, Words } from './words.tsx';

const NEWEST = 8;

export function Overview() {
  const present = usePresent('Overview');
  if ('pending' in present) return present.pending;
  const { live, report, rows, query } = present;
  if (isUnused(present)) return <FirstRequest />;
  return (
    <div class="page">
      <h1 class="hidden">Overview</h1>
      <Reasons live={live} />
      <Figures live={live} report={report} title={rangeOf(query).title} />
      {report.totals.requests > 0 && <Charts report={report} />}
      <div class="columns">
        <Wrong report={report} />
        <CacheLanes live={live} report={report} />
        <ProviderList live={live} />
      </div>
      <NewestRequests rows={rows} most={NEWEST} />
    </div>
  );
}

export interface Present {
  readonly live: LiveState;
  readonly report: ReportJson;
  readonly rows: readonly RequestJson[] | undefined;
  readonly query: URLSearchParams;
}

/** True where nobody has asked this proxy for anything, as far as is shown. */
export function isUnused({ live, report, query }: Present): boolean {
  return report.totals.requests === 0 && live.session.requests === 0 && query.size === 0;
}

/** How things stand in the present range; until that is known, what stands in its place under `title`. */
export function usePresent(title: string): Present | { readonly pending: VNode } {
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
  readonly most: number;
  /** What stands in the place of rows where there are none. */
  readonly none?: ComponentChildren;
}

export function NewestRequests({ rows, most, none }: NewestProps) {
  return (
    <section class="card flush" aria-labelledby="newest">
      <header>
        <h2 id="newest">Newest requests</h2>
        <a href={addressOf('requests')} onClick={follow}>
          All requests
        </a>
      </header>
      {rows === undefined || rows.length === 0 ? (
        <p class="quiet inset">{none ?? 'None in this range of time.'}</p>
      ) : (
        <div class="list short" role="table" aria-label="Newest requests">
          <div class="list-head" role="row">
            <RequestHeader />
          </div>
          {rows.slice(0, most).map((row) => (
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
  const reasons = reasonsOf(live);
  if (reasons.length === 0) return null;
  return (
    <section class="banner" aria-label="What is wrong">
      {reasons.map((reason) => (
        <p key={reason}>
          <Words text={reason} />
        </p>
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
      {headlineFigures(live, report).map(({ id, name, value, words, tone }) => (
        <div key={id} class={`figure${tone === 'bad' ? ' bad' : ''}`}>
          <h2>{name}</h2>
          <b data-figure={id} {...(tone === 'good' && { class: tone })}>
            {value}
          </b>
          <p>{words}</p>
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

function Charts({ report }: { readonly report: ReportJson }) {
  const charts = useMemo(() => {
    const full = seriesOf(report);
    const { totals, latency } = report;
    const time = { times: full.times, stepSeconds: full.stepSeconds };
    return [
      {
        ...time,
        title: 'Cost',
        show: dollars,
        series: [
          {
            name: 'without svc',
            shape: 'steps' as const,
            color: 'dim',
            values: full.values((step) => step.cost_without, 0),
            summary: dollars(totals.cost_without),
          },
          {
            name: 'paid',
            shape: 'steps' as const,
            color: 'blue',
            isFilled: true,
            values: full.values((step) => step.cost, 0),
            summary: dollars(totals.cost),
          },
        ],
      },
      {
        ...time,
        title: 'Input tokens',
        show: short,
        series: [
          {
            name: 'as clients sent them',
            shape: 'steps' as const,
            color: 'dim',
            values: full.values((step) => step.input_tokens, 0),
            summary: short(totals.input_tokens),
          },
          {
            name: 'sent on',
            shape: 'steps' as const,
            color: 'mark',
            isFilled: true,
            values: full.values((step) => step.sent_input_tokens, 0),
            summary: short(totals.sent_input_tokens),
          },
        ],
      },
      {
        ...time,
        title: 'Requests',
        show: short,
        series: [
          {
            name: 'all',
            color: 'violet',
            shape: 'bars' as const,
            values: full.values((step) => step.requests, 0),
            summary: short(totals.requests),
          },
          {
            name: 'failed',
            color: 'bad',
            shape: 'bars' as const,
            values: full.values((step) => step.errors, 0),
            summary: short(totals.errors),
          },
        ],
      },
      {
        ...time,
        title: 'Time taken',
        show: duration,
        series: [
          {
            name: 'p99',
            shape: 'line' as const,
            color: 'dim',
            values: full.values((step) => step.p99_ms, null),
            summary: duration(latency.p99_ms),
          },
          {
            name: 'p95',
            shape: 'line' as const,
            color: 'orange',
            values: full.values((step) => step.p95_ms, null),
            summary: duration(latency.p95_ms),
          },
          {
            name: 'p50',
            shape: 'line' as const,
            color: 'blue',
            values: full.values((step) => step.p50_ms, null),
            summary: duration(latency.p50_ms),
          },
        ],
      },
    ];
  }, [report]);
  return (
    <section class="charts" aria-label="Over time">
      {charts.map((chart) => (
        <Chart key={chart.title} {...chart} />
      ))}
    </section>
  );
}

function Wrong({ report: { failures } }: { readonly report: ReportJson }) {
  return (
    <section class="card">
      <header>
        <h2>What went wrong</h2>
        {failures.length > 0 && (
          <a href={addressOf('errors')} onClick={follow}>
            All causes
          </a>
        )}
      </header>
      {failures.length === 0 ? (
        <p class="quiet">Nothing failed.</p>
      ) : (
        <ul class="lines">
          {failures.slice(0, 5).map((group) => (
            <li key={group.last_request_id}>
              <a
                href={addressOf(`request/${encodeURIComponent(group.last_request_id)}`)}
                onClick={follow}
                title="The newest of them"
              >
                {causeOf(group)}
              </a>
              <span class="quiet">{group.provider ?? 'no provider'}</span>
              <b class="num">{whole(group.requests)}</b>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
