/** What spared tokens, each in its own lane. */
import type { LiveState, ReportJson } from '../contract.ts';
import { lanesOf } from './summary.ts';

interface LanesProps {
  readonly live: LiveState;
  readonly report: ReportJson;
}

export function CacheLanes({ live, report }: LanesProps) {
  return (
    <section class="card">
      <h2>What spared tokens</h2>
      <dl class="lanes">
        {lanesOf(live, report).map(({ name, color, worth, part, words }) => (
          <div class="lane" key={name}>
            <dt>{name}</dt>
            <dd>
              <b>{worth}</b> <span class="quiet">{words}</span>
              <div class="bar" aria-hidden="true">
                <i class={color} style={{ width: `${Math.min(100, 100 * part)}%` }} />
              </div>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
