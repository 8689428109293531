/** Failed requests, grouped by cause. */
import type { ReportJson } from '../contract.ts';
import { agentOf, causeOf } from './conditions.ts';
import { FilterBar } from './requests/filter-bar.tsx';
import { figureColumn } from './requests/columns.ts';
import { orDash, share, time, wholeNumber } from './format.ts';
import { Link } from './frame/link.tsx';
import { localMoment } from './local-time.ts';
import { useReport } from './report-data.ts';
import { Table } from './requests/table.tsx';
import type { TableColumn } from './requests/table.tsx';
import { Fault } from './message-text.tsx';

export function CausesView({ query }: { readonly query: URLSearchParams }) {
  const { value: report, error } = useReport(query);
  return (
    <div class="page">
      <h1>What went wrong</h1>
      <FilterBar query={query} />
      <Fault text={error} />
      {report !== undefined && report.failures.length === 0 && (
        <p class="quiet pad">Nothing failed in this range of time.</p>
      )}
      {report !== undefined && report.failures.length > 0 && (
        <section class="card flush">
          <Table columns={columnsOf(report.totals.requests)} rows={report.failures} />
        </section>
      )}
      <p>
        <Link to="requests" filters={{ failed: '1' }}>
          Every failed request
        </Link>
      </p>
    </div>
  );
}

/** Returns the columns; `requests` is the total number of requests, failed or not. */
function columnsOf(requests: number): readonly TableColumn<ReportJson['failures'][number]>[] {
  return [
    { header: 'Cause', rank: 0, text: causeOf },
    { header: 'Provider', rank: 1, text: (group) => orDash(group.provider) },
    figureColumn('Requests', 2, (group) => wholeNumber(group.requests)),
    { header: 'Agent', rank: 4, text: agentOf },
    figureColumn('Share of all', 5, (group) => share(group.requests / requests)),
    {
      header: 'Newest',
      rank: 3,
      text: (group) => time(group.last),
      cell: (group) => (
        <Link to="request" id={group.last_request_id} title={localMoment(group.last)}>
          {time(group.last)}
        </Link>
      ),
    },
  ];
}
