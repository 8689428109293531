/** Measures how long a request of very many small values delays others. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withProxyProcess } from '../../fixtures/proxy-process.ts';
import type { RunningProxy } from '../../fixtures/proxy-process.ts';
import { mainThreadWaitedMs } from '../../fixtures/starvation.ts';
import { CHAT, MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';
import type { Sent } from '../../fixtures/server/exchange.ts';
import type { LimitGroup, Measured } from './limit.ts';

/** Limit set by the design. */
const MAX_MS = 100;
const EVERY_MS = 5;
const ROUNDS = 3;

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const results = (count: number) =>
  many(count, (at) => ({ type: 'tool_result', tool_use_id: `t${at}`, content: 'ok' }));
const calls = (count: number) =>
  many(count, (at) => ({ type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: 'ls' } }));
const USER = { role: 'user', content: 'x' };

/** Requests by name; a body has some 10 MB, so it is made when it is sent. */
const CASES: Readonly<Record<string, () => Sent>> = {
  '300,000 messages': () => ({ body: json(MESSAGE, { messages: many(300_000, () => USER) }) }),
  '200,000 tool results': () => ({
    body: json(MESSAGE, {
      messages: [
        USER,
        { role: 'assistant', content: calls(200_000) },
        { role: 'user', content: results(200_000) },
      ],
    }),
  }),
  '1,000,000 keys': () => ({
    body: json(MESSAGE, {
      metadata: Object.fromEntries(many(1_000_000, (at) => [`k${at}`, at])),
    }),
  }),
  '300,000 chat messages': () => ({
    path: '/v1/chat/completions',
    body: json(CHAT, { messages: many(300_000, () => USER) }),
  }),
  'as many messages as are read': () => ({
    body: json(MESSAGE, { messages: many(19_500, () => USER) }),
  }),
  'as many tool results as are read': () => ({
    body: json(MESSAGE, {
      messages: [
        USER,
        { role: 'assistant', content: calls(5_400) },
        { role: 'user', content: results(5_400) },
      ],
    }),
  }),
};

/**
 * Returns the longest latency of a small request while `work` ran, in milliseconds, minus the time
 * for which the proxy or this process waited for a processor.
 */
async function longestWait({ port, child }: RunningProxy, work: Promise<unknown>): Promise<number> {
  const pid = child.pid ?? 0;
  const state = { isDone: false };
  work.then(
    () => (state.isDone = true),
    () => (state.isDone = true),
  );
  let longestMs = 0;
  let lateMs = 0;
  while (!state.isDone) {
    const startMs = performance.now();
    const starvedMs = mainThreadWaitedMs(pid);
    await exchange(port, { method: 'GET', path: '/' });
    const waitMs = performance.now() - startMs - (mainThreadWaitedMs(pid) - starvedMs);
    longestMs = Math.max(longestMs, waitMs);
    const sleepMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    lateMs = Math.max(lateMs, performance.now() - sleepMs - EVERY_MS);
  }
  return longestMs - lateMs;
}

const ANSWER = JSON.stringify({
  id: 'c',
  model: 'm',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'ok' }],
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ok' } }],
  usage: { input_tokens: 5, output_tokens: 1, prompt_tokens: 5, completion_tokens: 1 },
});

/** Runs `use` with the URL of a provider that takes almost no processor time. */
async function withPlainProvider<T>(use: (url: string) => Promise<T>): Promise<T> {
  const upstream = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(ANSWER);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
  } finally {
    upstream.closeAllConnections();
    upstream.close();
  }
}

function othersWait(yaml: string, how: string): Promise<readonly Measured[]> {
  return withPlainProvider((upstreamUrl) =>
    withProxyProcess({ upstreamUrl, yaml }, async (proxy) => {
      const found: Measured[] = [];
      for (const [name, make] of Object.entries(CASES)) {
        const sent = make();
        // Once to load its modules, then measured.
        await exchange(proxy.port, sent);
        let value = Number.POSITIVE_INFINITY;
        for (let round = 0; round < ROUNDS; round += 1)
          value = Math.min(value, await longestWait(proxy, exchange(proxy.port, sent)));
        found.push({ what: `others wait for ${name}${how}`, unit: 'ms', max: MAX_MS, value });
      }
      return found;
    }),
  );
}

/** Wall time. */
export const LARGE_REQUEST_LIMITS: readonly LimitGroup[] = [
  { name: 'large requests, best of three', measure: () => othersWait('', '') },
  {
    name: 'large requests that are translated, best of three',
    measure: () => othersWait('routing: { primary: chat }\n', ', translated'),
  },
];
