/** Savings by source, and what the vault added at what cost. */
import type { LiveState, ReportJson } from '../contract.ts';
import { CacheLanes } from './charts/cache-lanes.tsx';
import { FilterBar } from './requests/filter-bar.tsx';
import { classColumns, groupColumns } from './requests/columns.ts';
import { orDash, wholeNumber } from './format.ts';
import { Link } from './frame/link.tsx';
import { state } from './live.ts';
import { useReport } from './report-data.ts';
import { useStore } from './store.ts';
import { addedWords, billOf, unpricedNote } from './summary.ts';
import { Table, withCell } from './requests/table.tsx';
import { Tools } from './tools.tsx';
import { Fault } from './message-text.tsx';

export function SavingsView({ query }: { readonly query: URLSearchParams }) {
  const live = useStore(state);
  const { value: report, error } = useReport(query);
  return (
    <div class="page">
      <h1>Savings</h1>
      <FilterBar query={query} />
      <Fault text={error} />
      {report !== undefined && live !== undefined && (
        <>
          <div class="columns wide">
            <div class="stack">
              <Bill report={report} />
              <Classes classes={live.classes} />
            </div>
            <div class="stack">
              <CacheLanes live={live} report={report} />
              <Added report={report} />
            </div>
          </div>
          <Groups title="By model" filter="model" groups={report.by_model} />
          <Groups title="By agent" filter="client" groups={report.by_client} />
          <Groups title="By provider" filter="provider" groups={report.by_provider} />
          <Tools query={query} />
        </>
      )}
    </div>
  );
}

function Bill({ report }: { readonly report: ReportJson }) {
  const rows = billOf(report);
  const note = unpricedNote(report);
  return (
    <section class="card">
      <h2>The bill</h2>
      <table class="bill">
        <tbody>
          {rows.map(({ name, value, tone }) => (
            <tr key={name} {...(name === rows.at(-1)!.name && { class: 'total' })}>
              <th scope="row">{name}</th>
              <td class={`num ${tone ?? ''}`}>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {note !== undefined && <p class="quiet">{note}</p>}
    </section>
  );
}

function Added({ report }: { readonly report: ReportJson }) {
  const { injections } = report;
  return (
    <section class="card">
      <h2>Added from the vault</h2>
      <p>{addedWords(report)}</p>
      {injections.blocks.length > 0 && (
        <ul class="lines">
          {injections.blocks.slice(0, 10).map(({ block_id: id, requests }) => (
            <li key={id}>
              <code class="clip" title={id}>
                {id}
              </code>
              <b class="num">{wholeNumber(requests)}</b>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Classes({ classes }: { readonly classes: LiveState['classes'] }) {
  return (
    <section class="card">
      <h2>
        By class of text <span class="quiet">since the start, estimated tokens</span>
      </h2>
      {classes.length === 0 ? (
        <p class="quiet">Nothing was compressed since the start.</p>
      ) : (
        <Table columns={classColumns('Class')} rows={classes} />
      )}
    </section>
  );
}

interface GroupsProps {
  readonly title: string;
  readonly filter: 'model' | 'client' | 'provider';
  readonly groups: ReportJson['by_model'];
}

function Groups({ title, filter, groups }: GroupsProps) {
  if (groups.length === 0) return null;
  const columnTitle = title.slice('By '.length);
  const columns = withCell(groupColumns(columnTitle), columnTitle, ({ name }) =>
    name === null ? (
      <span class="quiet">unknown</span>
    ) : (
      <Link to="requests" filters={{ [filter]: name }}>
        {orDash(name)}
      </Link>
    ),
  );
  return (
    <section class="card flush" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <Table columns={columns} rows={groups} />
    </section>
  );
}
