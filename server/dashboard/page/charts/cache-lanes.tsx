/** Savings by source, one lane each; sources that saved nothing are collapsed. */
import type { LiveState, ReportJson } from '../../contract.ts';
import { counted } from '../../../words/counted.ts';
import { lanesOf } from '../summary.ts';
import type { LaneRow } from '../summary.ts';

interface LanesProps {
  readonly live: LiveState;
  readonly report: ReportJson;
}

export function CacheLanes({ live, report }: LanesProps) {
  const lanes = lanesOf(live, report);
  const empty = lanes.filter(isEmpty);
  return (
    <section class="card">
      <h2>Savings by source</h2>
      <Lanes lanes={lanes.filter((lane) => !isEmpty(lane))} />
      {empty.length > 0 && (
        <details class="folded">
          <summary>{counted(empty.length, 'source')} without savings</summary>
          <Lanes lanes={empty} />
        </details>
      )}
    </section>
  );
}

const isEmpty = ({ part, worth }: LaneRow): boolean =>
  part === 0 && (worth === '$0' || !/\d/.test(worth));

function Lanes({ lanes }: { readonly lanes: readonly LaneRow[] }) {
  if (lanes.length === 0) return <p class="quiet">Nothing was saved yet.</p>;
  return (
    <dl class="lanes">
      {lanes.map(({ name, color, worth, part, detail }) => (
        <div class="lane" key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{worth}</b> <span class="quiet">{detail}</span>
            <div class="bar" aria-hidden="true">
              <i class={color} style={{ width: `${Math.min(100, 100 * part)}%` }} />
            </div>
          </dd>
        </div>
      ))}
    </dl>
  );
}
