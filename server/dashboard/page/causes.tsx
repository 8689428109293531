/** Why requests failed, cause by cause. */
import { causeOf } from './conditions.ts';
import { FilterBar } from './filter-bar.tsx';
import { moment, orDash, share, time, whole } from './format.ts';
import { addressOf, follow } from './location.ts';
import { useReport } from './report-data.ts';

export function CausesView({ query }: { readonly query: URLSearchParams }) {
  const { value: report, error } = useReport(query);
  return (
    <div class="page">
      <h1>What went wrong</h1>
      <FilterBar query={query} />
      {error !== undefined && <p class="fault">{error}</p>}
      {report !== undefined && report.failures.length === 0 && (
        <p class="quiet pad">Nothing failed in this range of time.</p>
      )}
      {report !== undefined && report.failures.length > 0 && (
        <section class="card flush">
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Cause</th>
                  <th scope="col">Provider</th>
                  <th scope="col" class="num">
                    Requests
                  </th>
                  <th scope="col" class="num">
                    Share of all
                  </th>
                  <th scope="col">Newest</th>
                </tr>
              </thead>
              <tbody>
                {report.failures.map((group) => (
                  <tr key={group.last_request_id}>
                    <th scope="row">{causeOf(group)}</th>
                    <td>{orDash(group.provider)}</td>
                    <td class="num">{whole(group.requests)}</td>
                    <td class="num">{share(group.requests / report.totals.requests)}</td>
                    <td>
                      <a
                        href={addressOf(`request/${encodeURIComponent(group.last_request_id)}`)}
                        onClick={follow}
                        title={moment(group.last)}
                      >
                        {time(group.last)}
                      </a>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
      <p>
        <a href={addressOf('requests', { failed: '1' })} onClick={follow}>
          Every failed request
        </a>
      </p>
    </div>
  );
}
