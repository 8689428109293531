/** `svc status` and the first screen of the dashboards agree on whether all is well, and on why not. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addHeaders } from '../../fixtures/upstream/added-headers.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import type { LiveState } from '../../server/dashboard/contract.ts';
import { concernsOf, verdictOf } from '../../server/dashboard/page/conditions.ts';
import { createFeedReader } from '../../server/dashboard/page/feed-events.ts';
import type { Json } from '../remote.ts';
import { createColors } from './colors.ts';
import { statusLines } from './status.ts';

/** Returns the text after `Health` in `svc status`. */
async function healthLine(t: TestProxy): Promise<string> {
  const response = await fetch(`${t.proxy.url}/health`);
  const status = {
    running: true,
    pid: 1,
    background: false,
    home: '/home',
    url: t.proxy.url,
    ws_url: null,
    paused: false,
    log_level: 'info',
    active_requests: 0,
    health: (await response.json()) as Json,
    recent: [],
    retries: [],
    not_compressed: [],
  };
  const line = statusLines(status, createColors(false)).find((text) => /^\s*Health /.test(text));
  return line?.replace(/^\s*Health\s+/, '') ?? '';
}

/** Returns the state that the proxy sends to a dashboard that opens. */
async function liveState(t: TestProxy): Promise<LiveState> {
  const abort = new AbortController();
  const { body } = await fetch(`${t.proxy.url}/dashboard/events`, {
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(120_000)]),
  });
  let live: LiveState | undefined;
  const nothing = (): void => undefined;
  const take = createFeedReader({ state: (state) => (live = state), rows: nothing, log: nothing });
  for await (const piece of body!) {
    take(piece);
    if (live !== undefined) break;
  }
  abort.abort();
  return live!;
}

/** Sends a request with the client's own key. */
async function ask(t: TestProxy): Promise<void> {
  const headers = { authorization: 'Bearer sk-ant-oat01-own' };
  await exchange(t.proxy.port, { body: json(MESSAGE), headers });
}

interface Case {
  /** Puts the proxy into the state. */
  readonly enter: (t: TestProxy) => Promise<void>;
  /** As both show it, without a full stop at its end; none if all is well. */
  readonly causes: readonly string[];
}

const HOUR_S = 3600;
const soon = (): string => String(Math.floor(Date.now() / 1000) + HOUR_S);

const CASES: Readonly<Record<string, Case>> = {
  'nothing was sent': { enter: async () => undefined, causes: [] },
  'all is well': { enter: ask, causes: [] },
  'a provider refused the only attempt': {
    enter: async (t) => {
      t.upstream.script(undefined, 'status', { status: 401 });
      await ask(t);
    },
    causes: ['provider messages: refuses the only attempt'],
  },
  'the last three attempts at a provider failed': {
    enter: async (t) => {
      await ask(t);
      t.upstream.script(undefined, 'status', { status: 401 });
      for (let n = 0; n < 3; n += 1) await ask(t);
    },
    causes: ['provider messages: last 3 attempts failed'],
  },
  'a breaker is open': {
    enter: async (t) => {
      t.upstream.script(undefined, '500');
      for (let n = 0; n < 5; n += 1) await ask(t);
    },
    causes: ['provider messages: its circuit breaker is open'],
  },
  'a provider was set to unhealthy': {
    enter: async (t) => void t.proxy.services.states.forceHealth('chat', 'unhealthy'),
    causes: ['provider chat: set to unhealthy by hand'],
  },
  'an alert fires': {
    enter: async (t) => {
      const rule = { name: 'slow', metric: 'p95_latency_ms', above: 1, below: null, message: null };
      t.proxy.services.activeAlerts.update([
        { rule, value: 7, isFiring: true, sinceMs: 0 } as never,
      ]);
    },
    causes: ['Alert slow: p95_latency_ms is 7, fires above 1'],
  },
  'the budget is used up': {
    enter: async (t) => {
      const prices = '{ input_cost_per_1m_tokens: 100, output_cost_per_1m_tokens: 100 }';
      const budgetOf = (usd: number) =>
        `budget: { enabled: true, per_day_usd: ${usd} }\nproviders: { messages: { pricing: ${prices} } }\n`;
      t.configure(budgetOf(10));
      await t.proxy.reload();
      await ask(t);
      await t.rows(1);
      t.configure(budgetOf(0.000001));
      await t.proxy.reload();
    },
    causes: ['The budget of the day is used up: requests are refused'],
  },
};

for (const [state, { enter, causes }] of Object.entries(CASES))
  test(`svc status and the dashboard agree when ${state}`, () =>
    withProxy({}, async (t) => {
      await enter(t);
      const live = await liveState(t);
      const bad = concernsOf(live).filter(({ tone }) => tone === 'bad');
      const shown = await healthLine(t);
      assert.equal(
        bad.map(({ text }) => text.replace(/\.$/, '')),
        causes,
      );
      assert.is(shown, causes.length === 0 ? 'ok' : `degraded: ${causes.join('; ')}`);
      assert.is(verdictOf(live)[0] === 'Degraded', causes.length > 0);
    }));

test('svc status and the dashboard agree when a plan is used up', () =>
  withProxy({}, async (t) => {
    t.upstream.script(
      undefined,
      addHeaders({
        'anthropic-ratelimit-unified-5h-utilization': '1.01',
        'anthropic-ratelimit-unified-5h-reset': soon(),
      }),
    );
    await ask(t);
    const live = await liveState(t);
    assert.is(await healthLine(t), 'degraded: Plan 5h of messages: used up');
    assert.is(verdictOf(live)[0], 'Degraded');
    const [only, ...others] = concernsOf(live);
    // The reset is in the reader's time zone, which the proxy does not know.
    assert.match(only!.text, /^Plan 5h of messages: used up, resets \d\d:\d\d\.$/);
    assert.equal(others, []);
  }));

test.after(closeClients);
test.run();
