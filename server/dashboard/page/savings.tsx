/** What was saved and on what, what was added from the vault and what that cost. */
import type { LiveState, ReportAnswer } from '../contract.ts';
import { CacheLanes } from './cache-lanes.tsx';
import { FilterBar } from './filter-bar.tsx';
import { dollars, orDash, percent, share, short, whole } from './format.ts';
import { state } from './live.ts';
import { addressOf, follow } from './location.ts';
import { useReport } from './report-data.ts';
import { useStore } from './store.ts';

export function SavingsView({ query }: { readonly query: URLSearchParams }) {
  const live = useStore(state);
  const { value: report, error } = useReport(query);
  return (
    <div class="page">
      <h1>Savings</h1>
      <FilterBar query={query} />
      {error !== undefined && <p class="fault">{error}</p>}
      {report !== undefined && live !== undefined && (
        <>
          <div class="columns wide">
            <Bill report={report} />
            <CacheLanes live={live} report={report} />
            <Added report={report} />
            <Classes classes={live.classes} />
          </div>
          <Groups title="By model" filter="model" groups={report.by_model} />
          <Groups title="By agent" filter="client" groups={report.by_client} />
          <Groups title="By provider" filter="provider" groups={report.by_provider} />
        </>
      )}
    </div>
  );
}

function Bill({ report: { totals, lanes } }: { readonly report: ReportAnswer }) {
  return (
    <section class="card">
      <h2>The bill</h2>
      <table class="bill">
        <tbody>
          <tr>
            <th scope="row">Without svc I would have paid</th>
            <td class="num">{dollars(totals.cost_without)}</td>
          </tr>
          <tr>
            <th scope="row">Saved by compression</th>
            <td class="num good">{dollars(negated(lanes.compression.cost_saved_usd))}</td>
          </tr>
          <tr>
            <th scope="row">Saved by cache breakpoints that svc set</th>
            <td class="num good">{dollars(negated(lanes.cache_breakpoints.cost_saved_usd))}</td>
          </tr>
          <tr>
            <th scope="row">Saved by answers that were kept</th>
            <td class="num good">{dollars(negated(lanes.response_cache.cost_saved_usd))}</td>
          </tr>
          <tr>
            <th scope="row">Added from the vault</th>
            <td class="num">{dollars(totals.cost_added)}</td>
          </tr>
          <tr class="total">
            <th scope="row">I paid</th>
            <td class="num">{dollars(totals.cost)}</td>
          </tr>
        </tbody>
      </table>
      {totals.unpriced > 0 && (
        <p class="quiet">
          {whole(totals.unpriced)} requests are of models without a known price and not in here.
        </p>
      )}
    </section>
  );
}

function negated(value: number | null): number | null {
  return value === null || value === 0 ? value : -value;
}

function Added({ report: { injections, totals } }: { readonly report: ReportAnswer }) {
  return (
    <section class="card">
      <h2>Added from the vault</h2>
      <p>
        {injections.requests === 0
          ? 'Nothing was added to a request.'
          : `${whole(injections.chunks)} pieces in ${whole(injections.requests)} requests: ${short(totals.tokens_added)} tokens, ${dollars(totals.cost_added)}.`}
      </p>
      {injections.blocks.length > 0 && (
        <ul class="lines">
          {injections.blocks.slice(0, 10).map(({ block_id: id, requests }) => (
            <li key={id}>
              <code class="clip" title={id}>
                {id}
              </code>
              <b class="num">{whole(requests)}</b>
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
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Class</th>
                <th scope="col" class="num">
                  Raw
                </th>
                <th scope="col" class="num">
                  Sent
                </th>
                <th scope="col" class="num">
                  Saved
                </th>
                <th scope="col" class="num">
                  Share
                </th>
              </tr>
            </thead>
            <tbody>
              {classes.map(({ class: name, tokens_before: before, tokens_after: after }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="num">{short(before)}</td>
                  <td class="num">{short(after)}</td>
                  <td class={`num${before > after ? ' good' : ''}`}>{short(before - after)}</td>
                  <td class="num">{share(before === 0 ? null : (before - after) / before)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface GroupsProps {
  readonly title: string;
  readonly filter: 'model' | 'client' | 'provider';
  readonly groups: ReportAnswer['by_model'];
}

function Groups({ title, filter, groups }: GroupsProps) {
  if (groups.length === 0) return null;
  return (
    <section class="card flush" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{title.slice('By '.length)}</th>
              {[
                'Requests',
                'In',
                'Sent',
                'Saved',
                'Share',
                'Cache read',
                'Paid',
                'Without svc',
                'Net saving',
              ].map((name) => (
                <th key={name} scope="col" class="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.name}>
                <th scope="row">
                  {group.name === null ? (
                    <span class="quiet">unknown</span>
                  ) : (
                    <a href={addressOf('requests', { [filter]: group.name })} onClick={follow}>
                      {orDash(group.name)}
                    </a>
                  )}
                </th>
                <td class="num">{whole(group.requests)}</td>
                <td class="num">{short(group.input_tokens)}</td>
                <td class="num">{short(group.sent_input_tokens)}</td>
                <td class="num good">{short(group.saved_tokens)}</td>
                <td class="num">{percent(group.saved_percent)}</td>
                <td class="num">{short(group.provider_cache_read_tokens)}</td>
                <td class="num">{dollars(group.cost)}</td>
                <td class="num">{dollars(group.cost_without)}</td>
                <td class="num">{dollars(group.net_cost_saved)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
