/** The stages of one request on a common time axis. */
import type { Trace } from '../../contract.ts';
import { duration } from '../format.ts';
import { extentOf, lengthOf, nameOf, notesOf } from '../charts/stage-times.ts';

export function Waterfall({ trace }: { readonly trace: Trace }) {
  const totalMs = lengthOf(trace);
  const percentOf = (ms: number): string => `${Math.min(100, (100 * ms) / totalMs)}%`;
  return (
    <section class="card" aria-labelledby="stages">
      <header>
        <h2 id="stages">Stages</h2>
        <span class="quiet">{duration(trace.duration_ms)} in all</span>
      </header>
      <p class="legend">
        <span>
          <i class="swatch mark" aria-hidden="true" /> working, as the figure says
        </span>
        <span>
          <i class="swatch blue" aria-hidden="true" /> at the provider
        </span>
        <span>
          <i class="swatch open" aria-hidden="true" /> from its first input to its last output
        </span>
      </p>
      <ol class="waterfall">
        <li class="scale" aria-hidden="true">
          <span />
          <span class="ends">
            <span>0</span>
            <span>{duration(totalMs / 2)}</span>
            <span>{duration(totalMs)}</span>
          </span>
          <span />
        </li>
        {trace.stages.map((stage) => {
          const [start, end] = extentOf(stage);
          const notes = notesOf(stage);
          return (
            <li key={stage.node}>
              <span class="stage-name">{nameOf(stage)}</span>
              <span class="track" aria-hidden="true">
                <i class="open" style={{ left: percentOf(start), width: percentOf(end - start) }} />
                <i
                  class={'error' in stage ? 'bad' : (stage.within ?? stage.node)}
                  style={{ left: percentOf(start), width: percentOf(stage.duration_ms) }}
                />
              </span>
              <span
                class="num"
                title={`working ${duration(stage.duration_ms)}, from ${duration(start)} to ${duration(end)}`}
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
