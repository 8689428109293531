/** The current state on one screen that needs no interaction, for a second monitor. */
import { Link } from './frame/link.tsx';
import { parsed, NO_LINES } from './log-line.ts';
import { LogRow } from './log-view.tsx';
import { logLines } from './live.ts';
import { NARROW, useMedia } from './media.ts';
import { Figures, NewestRequests, Reasons, isUnused, useCurrentData } from './overview.tsx';
import { PlanList } from './plans.tsx';
import { ProviderList } from './providers.tsx';
import { rangeOf } from './frame/ranges.ts';
import { useStore } from './store.ts';
import { TextWithCode } from './message-text.tsx';

/** More than fits a screen: the list takes the height available. */
const MAX_ROWS = 40;
const MAX_ROWS_NARROW = 8;
const MAX_LINES = 12;

export function MonitorView() {
  const present = useCurrentData('Live');
  const isNarrow = useMedia(NARROW);
  if ('pending' in present) return present.pending;
  const { live, report, rows, query } = present;
  return (
    <div class="page monitor">
      <h1 class="hidden">Live</h1>
      <Reasons live={live} />
      <Figures live={live} report={report} title={rangeOf(query).title} />
      <NewestRequests
        rows={rows}
        max={isNarrow ? MAX_ROWS_NARROW : MAX_ROWS}
        {...(isUnused(present) && { none: <HowToBegin /> })}
      />
      <div class="columns wide">
        <PlanList live={live} />
        <ProviderList live={live} />
        <NewestLines />
      </div>
    </div>
  );
}

function HowToBegin() {
  return (
    <>
      Nothing has gone through this proxy yet. <Link to="">How to send the first request</Link>
    </>
  );
}

function NewestLines() {
  const lines = useStore(logLines);
  return (
    <section class="card">
      <h2>Log</h2>
      {lines.length === 0 && (
        <p class="quiet">
          <TextWithCode text={NO_LINES} />
        </p>
      )}
      <div
        class="log static"
        role="log"
        aria-live="off"
        aria-label="Log, newest first"
        tabIndex={0}
      >
        {lines
          .slice(-MAX_LINES)
          .toReversed()
          .map((line, index) => (
            <LogRow key={lines.length - index} line={parsed(line)} />
          ))}
      </div>
    </section>
  );
}
