/** The usage windows of plans; nothing if no provider reports any. */
import type { LiveState } from '../contract.ts';
import { short } from './format.ts';
import { planWindows } from './plan-windows.ts';

const MAX_WINDOWS = 6;

export function PlanList({ live }: { readonly live: LiveState }) {
  const windows = planWindows(live, Date.now());
  if (windows.length === 0) return null;
  // The owner matters only if several windows have the same name.
  const isShared = (name: string) => windows.filter((window) => window.name === name).length > 1;
  return (
    <section class="card">
      <h2>Plans</h2>
      <ul class="plain-list">
        {windows
          .slice(0, MAX_WINDOWS)
          .map(({ id, name, key, used, value, detail, sparedTokens, tone }) => (
            <li key={id} class="plan" title={key}>
              <span>
                {name}
                {isShared(name) && <span class="quiet"> · {key}</span>}
              </span>
              <span class={`status ${tone ?? 'good'}`}>{value}</span>
              <div class="bar" aria-hidden="true">
                <i class={tone ?? 'good'} style={{ width: `${Math.min(100, 100 * used)}%` }} />
              </div>
              <span class="quiet">
                {detail}
                {sparedTokens > 0 && `; svc spared it ${short(sparedTokens)} tokens`}
              </span>
            </li>
          ))}
      </ul>
      {windows.length > MAX_WINDOWS && (
        <p class="quiet">and {windows.length - MAX_WINDOWS} more, fuller ones first: svc limits</p>
      )}
    </section>
  );
}
