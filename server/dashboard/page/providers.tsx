/** Providers: health, circuit breaker, keys with their cooldowns, pace. */
import type { LiveState } from '../contract.ts';
import { conditionOf } from './conditions.ts';
import { dollars, duration, orDash, share, short, spanOf, whole } from './format.ts';
import { state } from './live.ts';
import { usePlace } from './location.ts';
import { useReport } from './report-data.ts';
import { useStore } from './store.ts';

type Provider = LiveState['providers'][string];

interface ProviderProps {
  readonly name: string;
  readonly provider: Provider;
}

export function ProviderLine({ name, provider }: ProviderProps) {
  const [word, kind] = conditionOf(provider);
  const cooling = provider.keys.filter(({ wait_s: waitS }) => waitS > 0).length;
  return (
    <li>
      <span>{name}</span>
      <span class="quiet">{cooling > 0 && `${whole(cooling)} keys cooling`}</span>
      <span class={`status ${kind}`}>{word}</span>
    </li>
  );
}

export function ProvidersView() {
  const { query } = usePlace();
  const live = useStore(state);
  const { value: report } = useReport(query);
  if (live === undefined) return <p class="quiet pad">Loading…</p>;
  return (
    <div class="page">
      <h1>Providers</h1>
      <div class="columns wide">
        {Object.entries(live.providers).map(([name, provider]) => (
          <ProviderCard
            key={name}
            name={name}
            provider={provider}
            sums={report?.by_provider.find((group) => group.name === name)}
          />
        ))}
      </div>
    </div>
  );
}

interface CardProps extends ProviderProps {
  readonly sums: ReturnType<typeof useReport>['value'] extends infer R
    ? R extends { by_provider: readonly (infer G)[] }
      ? G | undefined
      : never
    : never;
}

function ProviderCard({ name, provider, sums }: CardProps) {
  const [word, kind] = conditionOf(provider);
  const { breaker, health, keys, pace } = provider;
  return (
    <section class="card">
      <header>
        <h2>{name}</h2>
        <span class={`status ${kind}`}>{word}</span>
      </header>
      <dl class="facts">
        <div>
          <dt>Requests</dt>
          <dd>{short(sums?.requests)}</dd>
        </div>
        <div>
          <dt>Failed</dt>
          <dd>{sums === undefined ? '–' : share(sums.errors / sums.requests)}</dd>
        </div>
        <div>
          <dt>Paid</dt>
          <dd>{dollars(sums?.cost)}</dd>
        </div>
        <div>
          <dt>Mean time</dt>
          <dd>{duration(sums?.avg_latency_ms)}</dd>
        </div>
        <div>
          <dt>Breaker</dt>
          <dd>
            {breaker.state}, {whole(breaker.failures)} of {whole(breaker.requests)} failed in a
            minute
          </dd>
        </div>
        <div>
          <dt>Health</dt>
          <dd>
            {health.state}
            {health.reason !== null && `: ${health.reason}`}
            {health.recovers_in_s !== null &&
              health.recovers_in_s > 0 &&
              `, tried again in ${spanOf(health.recovers_in_s)}`}
          </dd>
        </div>
        {pace !== null && (
          <div>
            <dt>Pace</dt>
            <dd>
              {Object.entries(pace)
                .map(([what, value]) => `${what} ${String(value)}`)
                .join(', ')}
            </dd>
          </div>
        )}
        {provider.stopped !== null && (
          <div>
            <dt>Stopped</dt>
            <dd>{provider.stopped}</dd>
          </div>
        )}
      </dl>
      {keys.length === 0 ? (
        <p class="quiet">
          {provider.needs_key ? 'No key of its own: the client’s key is used.' : 'Needs no key.'}
        </p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">State</th>
                <th scope="col" class="num">
                  Used
                </th>
                <th scope="col" class="num">
                  Limited
                </th>
                <th scope="col" class="num">
                  Refused
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.map((key) => (
                <tr key={key.label}>
                  <th scope="row">{orDash(key.label)}</th>
                  <td class={key.wait_s > 0 ? 'warn' : ''}>
                    {key.state}
                    {key.wait_s > 0 && `, ${spanOf(Math.ceil(key.wait_s))} left`}
                  </td>
                  <td class="num">{whole(key.picked)}</td>
                  <td class="num">{whole(key.limited)}</td>
                  <td class="num">{whole(key.refused)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
