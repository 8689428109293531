/** What happens now, on one screen that needs no hand: for a monitor that stands beside the work. */
import { parsed, NO_LINES } from './log-line.ts';
import { LogRow } from './log-view.tsx';
import { logLines } from './live.ts';
import { Figures, NewestRequests, Reasons, usePresent } from './overview.tsx';
import { ProviderList } from './providers.tsx';
import { rangeOf } from './ranges.ts';
import { useStore } from './store.ts';
import { Words } from './words.tsx';

const MOST_ROWS = 16;
const MOST_LINES = 12;

export function MonitorView() {
  const present = usePresent();
  if ('pending' in present) return present.pending;
  const { live, report, rows, query } = present;
  return (
    <div class="page">
      <h1 class="hidden">Live</h1>
      <Reasons live={live} />
      <Figures live={live} report={report} title={rangeOf(query).title} />
      <NewestRequests rows={rows} most={MOST_ROWS} />
      <div class="columns wide">
        <ProviderList live={live} />
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
