/** Limits for one request, one stream and one row. */
import { until, withLive } from '../../fixtures/cli/live.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { killRounds } from '../../fixtures/ledger/kill-rounds.ts';
import {
  MESSAGE,
  exchange,
  json,
  openResponse,
  percentile,
  readFullResponse,
} from '../../fixtures/server/exchange.ts';
import { WINDOWS, disconnectClients } from '../../fixtures/server/disconnecting-clients.ts';
import { askWhilePruning } from '../../fixtures/server/pruning.ts';
import { heldByStalledStreams } from '../../fixtures/server/stalled-streams.ts';
import { request as onRequest } from '../../fixtures/upstream.ts';
import { pause } from '../../fixtures/wait.ts';
import { minOf } from './limit.ts';
import type { LimitGroup, Measured } from './limit.ts';

const LEAVING_CLIENTS = 50;
const NOTICED_MS = 100;
const EVENT_MS = 5;
/** Loading in the background takes a fifth of this on a quiet machine. */
const LOADED_MS = 3000;
const FIRST_MS = 60;
const PRUNING_PERCENT = 25;
const STALLED_STREAM_KIB = 256;
const ACKNOWLEDGED_MS = 100;
const KILLS = 5;
const STOP_MS = 5000;

/** p99 of fifty, minus delays of this whole process. */
async function disconnects(): Promise<readonly Measured[]> {
  const found: Measured[] = [];
  for (const window of [...WINDOWS, 'WebSocket'] as const) {
    const value = await minOf(3, async () => {
      let ms = Number.NaN;
      await withProxy({}, async (t) => {
        const { delaysMs, lateMs } = await disconnectClients(t, window, LEAVING_CLIENTS);
        ms = percentile(delaysMs, 0.99) - lateMs;
      });
      return ms;
    });
    const name = window === 'WebSocket' ? window : window.name;
    found.push({
      what: `the upstream is closed after: ${name}`,
      unit: 'ms',
      max: NOTICED_MS,
      value,
    });
  }
  return found;
}

/** Median delay of twenty first events, from the provider's write to the client's read. */
async function events(): Promise<readonly Measured[]> {
  const delaysMs: number[] = [];
  await withProxy({}, async (t) => {
    for (let n = 0; n < 20; n += 1) {
      let writtenAtMs = 0;
      const stop = t.upstream.script(
        undefined,
        onRequest(async (connection) => {
          const { wire, headLength, pieces } = connection.answer();
          const write = (piece: Buffer, end = '') =>
            connection.write(`${piece.length.toString(16)}\r\n${piece.toString()}\r\n${end}`);
          await connection.write(wire.subarray(0, headLength));
          await connection.wait(5);
          writtenAtMs = performance.now();
          await write(pieces[0]!);
          await connection.wait(5);
          await write(pieces.at(-1)!, '0\r\n\r\n');
        }),
      );
      const message = await openResponse(t.proxy.port, { body: json(MESSAGE, { stream: true }) });
      let seenAtMs = 0;
      message.once('data', () => (seenAtMs = performance.now()));
      await readFullResponse(message);
      stop();
      delaysMs.push(seenAtMs - writtenAtMs);
    }
  });
  const value = percentile(delaysMs, 0.5);
  return [{ what: 'an event of a stream is passed on', unit: 'ms', max: EVENT_MS, value }];
}

const HITS = Array.from({ length: 60 }, (_, n) => `src/item.tsx:${n + 1}:  use(item${n});`);

const BODY = {
  model: 'claude-fixture-1',
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'Where?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Grep', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: HITS.join('\n') }],
    },
  ],
};

interface Traced {
  readonly stages: readonly { readonly node: string; readonly duration_ms: number }[];
}

/** Measured in the bundled program, as installed; from separate modules it takes some 250 ms. */
async function firstCompression(): Promise<readonly Measured[]> {
  const value = await minOf(3, async () => {
    let ms = Number.NaN;
    const settings = ['compression: { threshold_tokens: 0 }'];
    await withLive(
      async (live) => {
        await pause(LOADED_MS);
        const headers = { 'content-type': 'application/json', 'x-api-key': 'k' };
        await fetch(`${live.url}/v1/messages`, { method: 'POST', headers, body: json(BODY) });
        await until(async () => (await fetch(`${live.url}/trace/last`)).ok, 'the trace');
        const traced = (await (await fetch(`${live.url}/trace/last`)).json()) as Traced;
        ms = traced.stages.find(({ node }) => node === 'compress')?.duration_ms ?? Number.NaN;
      },
      { settings },
    );
    return ms;
  });
  const what = 'the first compression after three quiet seconds';
  return [{ what, unit: 'ms', max: FIRST_MS, value }];
}

async function pruning(): Promise<readonly Measured[]> {
  const { tookMs, longestMs } = await askWhilePruning();
  const share = (ms: number) => (ms / tookMs) * 100;
  const rest = { unit: '%', max: PRUNING_PERCENT } as const;
  return [
    { ...rest, what: 'an answer waits, of what deleting takes', value: share(longestMs.answered) },
    { ...rest, what: 'a row waits, of what deleting takes', value: share(longestMs.stored) },
  ];
}

async function stalled(): Promise<readonly Measured[]> {
  const { buffersKiB } = await heldByStalledStreams();
  const what = 'buffers of a stream whose client does not read';
  return [{ what, unit: 'MB', max: STALLED_STREAM_KIB / 1024, value: buffersKiB / 1024 }];
}

async function kills(): Promise<readonly Measured[]> {
  const plan = { rounds: KILLS, children: 1, acknowledgedMs: ACKNOWLEDGED_MS };
  const { acknowledged, lost } = await killRounds(plan);
  const what = `rows lost of ${acknowledged} that were recorded 100 ms before kill -9`;
  return [{ what, unit: 'rows', max: 0, value: lost.length }];
}

/** Neither an unreachable telemetry collector nor an open dashboard may delay a stop. */
async function stops(): Promise<readonly Measured[]> {
  const timed = async (what: string, yaml: string, open: (url: string) => Promise<unknown>) => {
    let value = Number.NaN;
    await withProxy({ yaml }, async (t) => {
      await open(t.proxy.url);
      await exchange(t.proxy.port, { body: json(MESSAGE) });
      const startedMs = performance.now();
      await t.proxy.stop(true);
      value = performance.now() - startedMs;
    });
    return { what, unit: 'ms', max: STOP_MS, value } as const;
  };
  const unreachableCollector = 'telemetry: {enabled: true, endpoint: "http://127.0.0.1:9"}';
  return [
    await timed('a stop while the collector is away', unreachableCollector, () =>
      Promise.resolve(),
    ),
    await timed('a stop with an open dashboard', '', async (url) => {
      const response = await fetch(`${url}/dashboard/events`);
      void response.body
        ?.getReader()
        .read()
        .catch(() => undefined);
    }),
  ];
}

/** Wall time, memory and rows of a running proxy. */
export const REQUEST_LIMITS: readonly LimitGroup[] = [
  { name: 'a client that leaves, p99 of fifty, best of three', measure: disconnects },
  { name: 'streams', measure: events },
  { name: 'compression', measure: firstCompression },
  { name: 'while 100,000 old rows are deleted', measure: pruning },
  { name: 'memory', measure: stalled },
  { name: 'rows', measure: kills },
  { name: 'stopping', measure: stops },
];
