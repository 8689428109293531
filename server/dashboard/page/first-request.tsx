/** What an empty ledger shows: how to send the first request. */
import { orDash } from './format.ts';
import { state } from './live.ts';
import { useStore } from './store.ts';

export function FirstRequest() {
  const live = useStore(state);
  const { origin } = window.location;
  return (
    <section class="card first" aria-labelledby="first-title">
      <h1 id="first-title">Ready, and waiting for the first request</h1>
      <p>
        Nothing has gone through this proxy yet. Point a client at it; what it sends appears here as
        it happens.
      </p>
      <h2>Claude Code</h2>
      <pre>
        <code>{`ANTHROPIC_BASE_URL=${origin} claude`}</code>
      </pre>
      <h2>OpenAI SDKs and most other clients</h2>
      <pre>
        <code>{`OPENAI_BASE_URL=${origin}/v1`}</code>
      </pre>
      <h2>By hand</h2>
      <pre>
        <code>{`curl ${origin}/v1/messages \\
  -H "content-type: application/json" \\
  -H "anthropic-version: 2023-06-01" \\
  -H "x-api-key: $ANTHROPIC_API_KEY" \\
  -d '{"model":"claude-haiku-4-5","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}'`}</code>
      </pre>
      <p class="quiet">
        <code>svc integrate</code> sets clients up for you, <code>svc doctor</code> finds what is
        missing. Compression mode: {orDash(live?.health.compilation_mode)}.
      </p>
    </section>
  );
}
