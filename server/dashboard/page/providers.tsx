/** Providers: health, circuit breaker, keys with their cooldowns, pace. */
import type { LiveState } from '../contract.ts';
import { KEY_COLUMNS } from './requests/columns.ts';
import type { Group } from './requests/columns.ts';
import { conditionOf } from '../../words/problems.ts';
import { providerFacts } from './conditions.ts';
import { counted } from '../../words/counted.ts';
import { Facts } from './facts.tsx';
import { state } from './live.ts';
import { useRoute } from './frame/location.ts';
import { useReport } from './report-data.ts';
import { useStore } from './store.ts';
import { Table } from './requests/table.tsx';

type Provider = LiveState['providers'][string];

interface ProviderProps {
  readonly name: string;
  readonly provider: Provider;
}

/** The condition of each provider, one per line. */
export function ProviderList({ live }: { readonly live: LiveState }) {
  return (
    <section class="card">
      <h2>Providers</h2>
      <ul class="lines conditions">
        {Object.entries(live.providers).map(([name, provider]) => (
          <ProviderLine key={name} name={name} provider={provider} />
        ))}
      </ul>
    </section>
  );
}

function ProviderLine({ name, provider }: ProviderProps) {
  const [word, kind] = conditionOf(provider);
  const cooling = provider.keys.filter(({ wait_s: waitS }) => waitS > 0).length;
  return (
    <li>
      <span>{name}</span>
      <span class="quiet">{cooling > 0 && `${counted(cooling, 'key')} cooling`}</span>
      <span class={`status ${kind ?? 'idle'}`}>{word}</span>
    </li>
  );
}

export function ProvidersView() {
  const { query } = useRoute();
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
  readonly sums: Group | undefined;
}

function ProviderCard({ name, provider, sums }: CardProps) {
  const [word, kind] = conditionOf(provider);
  return (
    <section class="card">
      <header>
        <h2>{name}</h2>
        <span class={`status ${kind ?? 'idle'}`}>{word}</span>
      </header>
      <Facts rows={providerFacts(provider, sums)} />
      {provider.keys.length > 0 && <Table columns={KEY_COLUMNS} rows={provider.keys} />}
    </section>
  );
}
