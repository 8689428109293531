/** The stages of one request on one line of time. */
import type { Trace } from '../contract.ts';
import { duration } from './format.ts';
import { extentOf, lengthOf, notesOf } from './stage-times.ts';

export function Waterfall({ trace }: { readonly trace: Trace }) {
  const totalMs = lengthOf(trace);
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
          const notes = notesOf(stage);
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
                      <span class="quiet">{name}</span> {value}
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
