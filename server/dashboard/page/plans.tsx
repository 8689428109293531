/** The windows of plans, a line each; nothing where no provider has stated one. */
import type { LiveState } from '../contract.ts';
import { short } from './format.ts';
import { planWindows } from './plan-windows.ts';

const MOST = 6;

export function PlanList({ live }: { readonly live: LiveState }) {
  const windows = planWindows(live, Date.now());
  if (windows.length === 0) return null;
  return (
    <section class="card">
      <h2>Plans</h2>
      <ul class="lines">
        {windows.slice(0, MOST).map(({ id, name, key, value, words, sparedTokens, tone }) => (
          <li key={id} title={key}>
            <span>{name}</span>
            <span class="quiet">
              {words}
              {sparedTokens > 0 && `; svc spared it ${short(sparedTokens)} tokens`}
            </span>
            <span class={`status ${tone ?? 'good'}`}>{value}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
