/** The first screen: is it working, what did it save, what went wrong. */
import { useMemo } from 'preact/hooks';
import type { LiveState, ReportAnswer } from '../contract.ts';
import { CacheLanes } from './cache-lanes.tsx';
import { Chart } from './chart.tsx';
import { causeOf } from './conditions.ts';
import { FirstRequest } from './first-request.tsx';
import { dollars, duration, percent, share, short, spanOf, whole } from './format.ts';
import { state } from './live.ts';
import { addressOf, follow, usePlace } from './location.ts';
import { ProviderLine } from './providers.tsx';
import { rangeOf } from './ranges.ts';
import { useReport } from './report-data.ts';
import { useRequests } from './requests-data.ts';
import { RequestCells, RequestHead } from './requests.tsx';
import { seriesOf } from './series.ts';
import { useStore } from './store.ts';

const NEWEST = 8;

export function Overview() {
  const { query } = usePlace();
  const live = useStore(state);
  const { value: report, error } = useReport(query);
  const { rows } = useRequests(query);
  if (live === undefined || report === undefined)
    return error === undefined ? <p class="quiet pad">Loading…</p> : <p class="fault">{error}</p>;
  const isEmpty = report.totals.requests === 0 && live.session.requests === 0;
  if (isEmpty && query.size === 0) return <FirstRequest />;
  return (
    <div class="page">
      <h1 class="hidden">Overview</h1>
      <Reasons live={live} />
      <Figures live={live} report={report} title={rangeOf(query).title} />
      {report.totals.requests > 0 && <Charts report={report} />}
      <div class="columns">
        <Wrong report={report} />
        <CacheLanes live={live} report={report} />
        <section class="card">
          <h2>Providers</h2>
          <ul class="lines">
            {Object.entries(live.providers).map(([name, provider]) => (
              <ProviderLine key={name} name={name} provider={provider} />
            ))}
          </ul>
        </section>
      </div>
      <section class="card flush" aria-labelledby="newest">
        <header>
          <h2 id="newest">Newest requests</h2>
          <a href={addressOf('requests')} onClick={follow}>
            All requests
          </a>
        </header>
        {rows === undefined || rows.length === 0 ? (
          <p class="quiet inset">None in this range of time.</p>
        ) : (
          <div class="list short" role="table" aria-label="Newest requests">
            <div class="list-head" role="row">
              <RequestHead />
            </div>
            {rows.slice(0, NEWEST).map((row) => (
              <div class="list-row static" role="row" key={row.request_id}>
                <RequestCells row={row} isFirstStop />
              </div>
            ))}
          </div>
        )}
      </section>
    </div>
  );
}

function Reasons({ live: { alerts, health } }: { readonly live: LiveState }) {
  if (health.reasons.length === 0 && alerts.length === 0 && !health.paused) return null;
  return (
    <section class="banner" aria-label="What is wrong">
      {health.paused && <p>Paused: requests go out as they come in. `svc resume` ends that.</p>}
      {alerts.map(({ name, text }) => (
        <p key={name}>Alert {text}</p>
      ))}
      {health.reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
    </section>
  );
}

interface FiguresProps {
  readonly live: LiveState;
  readonly report: ReportAnswer;
  readonly title: string;
}

function Figures({ live, report, title }: FiguresProps) {
  const { totals, latency } = report;
  const failedShare = totals.requests === 0 ? null : totals.errors / totals.requests;
  return (
    <section class="figures" aria-label={title}>
      <div class="figure">
        <h2>Requests</h2>
        <b data-figure="requests">{short(totals.requests)}</b>
        <p>
          {whole(live.running)} running · up {spanOf(live.health.uptime_seconds)}
        </p>
      </div>
      <div class="figure">
        <h2>Saved</h2>
        <b class="good" data-figure="net_cost_saved">
          {dollars(totals.net_cost_saved)}
        </b>
        <p>
          {short(totals.saved_tokens)} tokens, {percent(totals.saved_percent)} of input
        </p>
      </div>
      <div class="figure">
        <h2>Paid</h2>
        <b data-figure="cost">{dollars(totals.cost)}</b>
        <p>
          {dollars(totals.cost_without)} without svc
          {totals.unpriced > 0 && ` · ${whole(totals.unpriced)} without a price`}
        </p>
        <PaidBar paid={totals.cost} without={totals.cost_without} />
      </div>
      <div class={`figure${totals.errors > 0 ? ' bad' : ''}`}>
        <h2>Failed</h2>
        <b data-figure="errors">{short(totals.errors)}</b>
        <p>
          {share(failedShare)} of requests
          {totals.cancelled > 0 && ` · ${whole(totals.cancelled)} cancelled by the client`}
        </p>
      </div>
      <div class="figure">
        <h2>Time taken, median</h2>
        <b>{duration(latency.p50_ms)}</b>
        <p>
          p95 {duration(latency.p95_ms)} · p99 {duration(latency.p99_ms)}
        </p>
      </div>
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

function Charts({ report }: { readonly report: ReportAnswer }) {
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

function Wrong({ report: { failures } }: { readonly report: ReportAnswer }) {
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
