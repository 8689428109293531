/** The frame around every view: where one is, how the proxy is, and which time it is about. */
import { useEffect } from 'preact/hooks';
import { KeyForm } from './key-form.tsx';
import { spanOf } from './format.ts';
import { connection, state, stayConnected } from './live.ts';
import { addressOf, follow, setFilters, usePlace } from './location.ts';
import { Overview } from './overview.tsx';
import { RANGES, rangeOf } from './ranges.ts';
import { RequestsView } from './requests.tsx';
import { needsKey } from './api.ts';
import { useStore } from './store.ts';

const VIEWS = [
  ['', 'Overview'],
  ['requests', 'Requests'],
] as const;

export function App() {
  const place = usePlace();
  const wantsKey = useStore(needsKey);
  useEffect(() => {
    const abort = new AbortController();
    void stayConnected(abort.signal);
    return () => abort.abort();
  }, []);
  const title = VIEWS.find(([view]) => view === place.view)?.[1];
  useEffect(() => {
    document.title = title === undefined ? 'svc' : `${title} · svc`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={addressOf('')} onClick={follow}>
          svc
        </a>
        <nav aria-label="Views">
          {VIEWS.map(([view, name]) => (
            <a
              key={view}
              href={addressOf(view)}
              onClick={follow}
              {...(view === place.view && { 'aria-current': 'page' as const })}
            >
              {name}
            </a>
          ))}
        </nav>
        <div class="top-end">
          <Status />
          <RangeChoice query={place.query} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {wantsKey ? <KeyForm /> : <View view={place.view} query={place.query} />}
      </main>
    </>
  );
}

function View({ view, query }: { readonly view: string; readonly query: URLSearchParams }) {
  if (view === '') return <Overview />;
  if (view === 'requests') return <RequestsView query={query} />;
  return (
    <section class="pad">
      <h1>There is no such page</h1>
      <p>
        <a href={addressOf('')} onClick={follow}>
          To the overview
        </a>
      </p>
    </section>
  );
}

function RangeChoice({ query }: { readonly query: URLSearchParams }) {
  return (
    <label class="range">
      <span class="hidden">Time</span>
      <select
        name="range"
        value={rangeOf(query).id}
        onChange={(event) => setFilters({ range: event.currentTarget.value })}
      >
        {RANGES.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Status() {
  const line = useStore(connection);
  const live = useStore(state);
  if (line === 'lost' || live === undefined) {
    const words = line === 'lost' ? 'No connection' : 'Connecting';
    return (
      <span class={`status ${line === 'lost' ? 'bad' : 'idle'}`} role="status">
        {words}
      </span>
    );
  }
  const { health } = live;
  const words = health.paused ? 'Paused' : health.status === 'ok' ? 'Working' : 'Degraded';
  const kind = health.paused ? 'warn' : health.status === 'ok' ? 'ok' : 'bad';
  return (
    <span
      class={`status ${kind}`}
      role="status"
      title={`svc ${health.version}, up ${spanOf(health.uptime_seconds)}`}
    >
      {words}
    </span>
  );
}
