/** The stages of one request on one line of time. */
import type { Trace } from '../contract.ts';
import { duration } from './format.ts';

type Stage = Trace['stages'][number];

/** Where a stage's bar lies, in milliseconds since the start of the run. */
function extentOf(stage: Stage): readonly [startMs: number, endMs: number] {
  const start = stage.first_in_ms ?? 0;
  return [start, Math.max(stage.last_out_ms ?? 0, start + stage.duration_ms)];
}

/** Notes that stand in a column of their own already. */
const SHOWN = new Set([
  'name',
  'node',
  'duration_ms',
  'first_in_ms',
  'first_out_ms',
  'last_out_ms',
  'frames',
]);

export function Waterfall({ trace }: { readonly trace: Trace }) {
  const totalMs = Math.max(
    trace.duration_ms,
    ...trace.stages.map((stage) => extentOf(stage)[1]),
    0.001,
  );
  return (
    <section class="card" aria-labelledby="stages">
      <header>
        <h2 id="stages">Stages</h2>
        <span class="quiet">{duration(trace.duration_ms)} in all</span>
      </header>
      <ol class="waterfall">
        {trace.stages.map((stage) => {
          const [start, end] = extentOf(stage);
          const left = (100 * start) / totalMs;
          const width = Math.max(0.4, (100 * (end - start)) / totalMs);
          const notes = Object.entries(stage).filter(([name]) => !SHOWN.has(name));
          return (
            <li key={stage.node}>
              <span class="stage-name">{stage.name}</span>
              <span class="track" aria-hidden="true">
                <i
                  class={'error' in stage ? 'bad' : stage.node}
                  style={{
                    left: `${Math.min(left, 99.6)}%`,
                    width: `${Math.min(width, 100 - left)}%`,
                  }}
                />
              </span>
              <span
                class="num"
                title={`busy ${duration(stage.duration_ms)}, from ${duration(start)} to ${duration(end)}`}
              >
                {duration(stage.duration_ms)}
              </span>
              {notes.length > 0 && (
                <span class="notes">
                  {notes.map(([name, value]) => (
                    <span key={name}>
                      <span class="quiet">{name.replaceAll('_', ' ')}</span> {shown(value)}
                    </span>
                  ))}
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
