/** The first screen: is it working, what did it save, what went wrong. */
import { FirstRequest } from './first-request.tsx';
import { dollars, short, spanOf, whole } from './format.ts';
import { state } from './live.ts';
import { usePlace } from './location.ts';
import { useRequests } from './requests-data.ts';
import { RequestList } from './requests.tsx';
import { useStore } from './store.ts';

export function Overview() {
  const { query } = usePlace();
  const live = useStore(state);
  const { rows } = useRequests(query);
  if (live === undefined) return <p class="quiet pad">Loading…</p>;
  const { session, health } = live;
  if (rows?.length === 0 && session.requests === 0) return <FirstRequest />;
  return (
    <>
      <section class="figures" aria-label="This session">
        <div class="figure">
          <h2>Requests</h2>
          <b>{short(session.requests)}</b>
          <p>
            {whole(live.running)} running, up {spanOf(health.uptime_seconds)}
          </p>
        </div>
        <div class="figure">
          <h2>Saved</h2>
          <b>{dollars(session.net_cost_saved)}</b>
          <p>
            {short(session.saved_tokens)} of {short(session.input_tokens)} input tokens
          </p>
        </div>
        <div class="figure">
          <h2>Paid</h2>
          <b>{dollars(session.cost)}</b>
          <p>{short(session.output_tokens)} output tokens</p>
        </div>
        <div class={`figure${session.errors > 0 ? ' bad' : ''}`}>
          <h2>Failed</h2>
          <b>{short(session.errors)}</b>
          <p>{health.reasons[0] ?? 'nothing is wrong'}</p>
        </div>
      </section>
      {rows !== undefined && rows.length > 0 && <RequestList rows={rows} />}
    </>
  );
}
