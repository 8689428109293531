/** What happens now, on one screen that needs no hand: for a monitor that stands beside the work. */
import { parsed, NO_LINES } from './log-line.ts';
import { LogRow } from './log-view.tsx';
import { logLines, state } from './live.ts';
import { usePlace } from './location.ts';
import { Figures, NewestRequests, Reasons } from './overview.tsx';
import { ProviderLine } from './providers.tsx';
import { rangeOf } from './ranges.ts';
import { useReport } from './report-data.ts';
import { useRequests } from './requests-data.ts';
import { useStore } from './store.ts';
import { Words } from './words.tsx';

const MOST_ROWS = 16;
const MOST_LINES = 12;

export function MonitorView() {
  const { query } = usePlace();
  const live = useStore(state);
  const { value: report, error } = useReport(query);
  const { rows } = useRequests(query);
  if (live === undefined || report === undefined)
    return error === undefined ? <p class="quiet pad">Loading…</p> : <p class="fault">{error}</p>;
  return (
    <div class="page">
      <h1 class="hidden">Live</h1>
      <Reasons live={live} />
      <Figures live={live} report={report} title={rangeOf(query).title} />
      <NewestRequests rows={rows} most={MOST_ROWS} />
      <div class="columns wide">
        <section class="card">
          <h2>Providers</h2>
          <ul class="lines">
            {Object.entries(live.providers).map(([name, provider]) => (
              <ProviderLine key={name} name={name} provider={provider} />
            ))}
          </ul>
        </section>
        <NewestLines />
      </div>
    </div>
  );
}

function NewestLines() {
  const lines = useStore(logLines);
  return (
    <section class="card">
      <h2>Log</h2>
      {lines.length === 0 && (
        <p class="quiet">
          <Words text={NO_LINES} />
        </p>
      )}
      <div class="log static" role="log" aria-live="off" aria-label="Log, newest first">
        {lines
          .slice(-MOST_LINES)
          .toReversed()
          .map((line, index) => (
            <LogRow key={lines.length - index} line={parsed(line)} />
          ))}
      </div>
    </section>
  );
}
