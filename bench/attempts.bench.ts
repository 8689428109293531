/**
 * Measures what the availability features cost per request: breaker, keys, health, attempts, cache
 * lookup and the check of the response, compared with the same graph and a forward stage with only
 * one provider and one key. The provider is a function of this process, so only the graph is
 * measured; rounds of both arms alternate. For scale, the whole proxy's processor time per request
 * is measured over sockets.
 *
 * Run as `node dist/bench/attempts.bench.js [rounds] [requests per round]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  compile,
  createCanceller,
  defineStage,
  run,
  streamOf,
  systemClock,
} from '../engine/index.ts';
import type { Plan, Sink, Stage } from '../engine/index.ts';
import { loadConfig } from '../server/config/load.ts';
import { createLog } from '../server/log/log.ts';
import { toProviders } from '../server/generation/providers.ts';
import { createServices } from '../server/services.ts';
import { createPrices } from '../stages/ledger/prices/prices.ts';
import { resolveEndpoint } from '../stages/dialect/endpoints.ts';
import { framesOf, gather, isDocument } from '../stages/forward/answer/answer.ts';
import { toUpstreamRequest } from '../stages/forward/request/outgoing.ts';
import type { OutgoingOptions } from '../stages/forward/request/outgoing.ts';
import { forward } from '../stages/forward/stage.ts';
import { keep } from '../stages/keep/stage.ts';
import { lookup } from '../stages/lookup/stage.ts';
import { meter } from '../stages/meter/stage.ts';
import { proxyFrameKinds } from '../stages/model/frame.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import type { BodyFrame } from '../stages/model/body.ts';
import { parse } from '../stages/parse/stage.ts';
import { bodyOf } from '../stages/providers/response-body.ts';
import type { Upstream } from '../stages/providers/upstream.ts';
import { protect } from '../stages/protect/stage.ts';
import { route } from '../stages/route/stage.ts';
import type { Services } from '../stages/services.ts';
import { trace } from '../stages/trace/stage.ts';
import { startRig } from './arms.ts';
import { median } from './figures.ts';
import { workloads } from './workloads.ts';

const [roundsAsked, requestsAsked] = process.argv.slice(2).map(Number);
const ROUNDS = roundsAsked ?? 30;
const REQUESTS = requestsAsked ?? 1500;
const TURN_REQUESTS = 16;
/** One-sided 95 % quantile of Student's t; nearly constant from 20 rounds on. */
const T95 = 1.72;
const ANSWER = Buffer.from(
  JSON.stringify({ type: 'message', model: 'claude-fixture-1', content: 'x'.repeat(1400) }),
);
const EVENTS = 20;
const EVENT = Buffer.from(
  `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"${'x'.repeat(60)}"}}\n\n`,
);

const FIRST = Buffer.from(
  'event: message_start\ndata: {"type":"message_start","message":{"model":"claude-fixture-1","usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
);
const LAST = Buffer.from(
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}\n\n' +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
);

const home = mkdtempSync(join(tmpdir(), 'svc-attempts-'));

async function main(): Promise<void> {
  const services = await openServices();
  const arms = { on: planOf(services, true), off: planOf(services, false) };
  const differences: Record<string, number> = {};
  for (const isStream of [false, true]) {
    const name = isStream ? `stream of ${EVENTS} events` : 'document';
    const body = bodyFrame(isStream);
    for (const plan of [arms.on, arms.off, arms.on, arms.off]) await cpuOf(plan, body);
    const on: number[] = [];
    const off: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const onFirst = round % 2 === 0;
      if (onFirst) on.push(await cpuOf(arms.on, body));
      off.push(await cpuOf(arms.off, body));
      if (!onFirst) on.push(await cpuOf(arms.on, body));
    }
    const added = boundOf(on.map((us, i) => us - off[i]!));
    differences[name] = added.upper;
    process.stdout.write(
      `${name}: graph alone ${median(off).toFixed(1)} µs off, ${median(on).toFixed(1)} µs on; ` +
        `adds ${added.mean.toFixed(1)} µs, upper 95 % bound ${added.upper.toFixed(1)} µs (${ROUNDS} pairs)\n`,
    );
  }
  await services.close();
  await againstWhole(differences);
}

/** Returns the processor time of a run, in microseconds. */
async function cpuOf(plan: Plan<ProxyFrame>, body: BodyFrame): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < REQUESTS; n += 1) {
    await once(plan, body, n);
    // Otherwise objects that are freed at the end of an event loop turn would be kept for the whole
    // round.
    if (n % TURN_REQUESTS === 0) await setImmediate();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

async function once(plan: Plan<ProxyFrame>, body: BodyFrame, n: number): Promise<void> {
  const { signal } = createCanceller();
  const startedMs = systemClock.monotonicMs();
  const startedWallMs = systemClock.wallMs();
  const info = { id: `req_${n}`, clock: systemClock, startedMs, startedWallMs, signal };
  const { outcome, error } = await run(plan, body, info, SINK);
  if (outcome !== 'ok') throw error ?? new Error(outcome);
}

/** Accepts everything and keeps nothing. */
const SINK: Sink<ProxyFrame> = {
  whole: () => undefined,
  write: () => undefined,
  end: () => undefined,
  fail: () => undefined,
};

function boundOf(values: readonly number[]): { readonly mean: number; readonly upper: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const error = Math.sqrt(squares / (values.length - 1) / values.length);
  return { mean, upper: mean + T95 * error };
}

type BenchServices = Services & { close(): Promise<void> };

async function openServices(): Promise<BenchServices> {
  const env = { SVC_HOME: home, MSGPROV_BASE_URL: 'http://127.0.0.1:9' };
  const { config } = await loadConfig({
    env,
    cwd: home,
    home,
    configPath: join(home, 'bench.yaml'),
    flags: {},
    readFile: (path) => (path.endsWith('bench.yaml') ? { text: '', mode: 0o600 } : undefined),
  });
  const log = createLog({
    isEnabled: false,
    level: 'error',
    destination: { kind: 'stream', stream: process.stderr },
    format: 'text',
    retentionDays: 1,
    includeRequestBody: false,
    includeResponseBody: false,
    includeTraces: false,
    clock: systemClock,
  });
  const services = await createServices({ config, log });
  const providers = toProviders(config);
  const keys = { rotation: 'failover', keys: [], cooldown429Ms: 1, cooldown401Ms: 1 } as const;
  services.states.configure(new Map([...providers.keys()].map((name) => [name, { keys }])));
  return {
    ...services,
    providers,
    prices: createPrices({ list: services.priceList }),
    upstream: STUB,
    ledger: { record: () => undefined },
  };
}

/** A provider whose response is available at once. */
const STUB: Upstream = {
  async send({ body }) {
    const isStream = body?.includes('"stream":true') === true;
    const type = isStream ? 'text/event-stream' : 'application/json';
    const pieces = isStream
      ? [FIRST, ...Array.from({ length: EVENTS }, () => EVENT), LAST]
      : [ANSWER];
    return { status: 200, headers: ['content-type', type], body: bodyOf(streamOf(pieces)) };
  },
  close: async () => undefined,
};

function bodyFrame(isStream: boolean): BodyFrame {
  const endpoint = resolveEndpoint('POST', '/v1/messages', []);
  if (endpoint === undefined || 'allow' in endpoint) throw new Error('no endpoint');
  const messages = [{ role: 'user', content: 'y'.repeat(900) }];
  const more = isStream ? { stream: true } : {};
  const bytes = Buffer.from(
    JSON.stringify({ model: 'claude-fixture-1', max_tokens: 9, messages, ...more }),
  );
  const headers = ['x-api-key', 'mine', 'content-type', 'application/json', 'user-agent', 'bench'];
  return {
    kind: 'body',
    method: 'POST',
    target: '/v1/messages',
    headers,
    wireBytes: bytes,
    bytes,
    endpoint,
  };
}

/** Returns the graph with the availability features, or with a minimal forward stage. */
function planOf(services: Services, isOn: boolean): Plan<ProxyFrame> {
  const byKind = { messages: 'messages', chat: 'chat', generative: 'generative' };
  const routing = { byKind, primary: undefined, verbatim: false, byModel: new Map(), fallback: [] };
  const fetching = {
    streamingEnabled: true,
    setsBreakpoints: false,
    streams: () => true,
    needsEvents: false,
  };
  const middle = isOn
    ? [
        lookup({ enabled: true }, services),
        forward(fetching, services),
        keep({ maxAnswerBytes: 1e6 }, services),
      ]
    : [plainForward(undefined, services)];
  const stages: Stage<ProxyFrame>[] = [
    parse(routing, services),
    protect(undefined, services),
    route(routing, services),
    ...middle,
    meter(undefined, services),
    trace(undefined, services),
  ];
  const nodes = stages.map((stage) => ({ name: stage.name, stage }));
  const edges = nodes.slice(1).map(({ name }, i) => ({ from: nodes[i]!.name, to: name }));
  const onHit = isOn ? [{ from: 'lookup', on: 'response', to: 'meter' } as const] : [];
  const compiled = compile({
    kinds: proxyFrameKinds,
    entry: 'parse',
    nodes,
    edges: [
      ...edges.map((edge) => (edge.from === 'lookup' ? { ...edge, on: 'request' as const } : edge)),
      ...onHit,
    ],
  });
  if (compiled.plan === undefined) throw new Error(compiled.faults.map(String).join());
  return compiled.plan;
}

/** One provider, one key, and no error handling. */
const plainForward = defineStage<ProxyFrame, undefined, Services>({
  name: 'forward',
  answers: true,
  build: (_config, { providers, upstream }) => ({
    on: {
      async request({ request }, { run: { signal } }) {
        const provider = providers.get(request.route?.provider ?? '')!;
        const options: OutgoingOptions = {
          identity: false,
          key: undefined,
          target: { credential: 'client', isElsewhere: false },
          signal,
        };
        const sent = toUpstreamRequest(request, provider, options);
        const { status, headers, body } = await upstream.send(sent);
        const streaming = headers[1] === 'text/event-stream';
        const head = { kind: 'head', status, headers, request, attempts: [], streaming } as const;
        return isDocument(head) ? gather(head, body, systemClock) : framesOf(head, body);
      },
    },
  }),
});

/**
 * Measures a whole proxy's cost per request over sockets, and the share of the difference in it.
 */
async function againstWhole(differences: Readonly<Record<string, number>>): Promise<void> {
  const rig = await startRig(['svc']);
  try {
    for (const [name, upperUs] of Object.entries(differences)) {
      const { path, headers, body } = workloads.find(
        (each) => each.name === (name === 'document' ? 'json' : 'sse-burst'),
      )!;
      const job = { port: rig.svc.port, path, headers, body, connections: 16 };
      await rig.load.call('run', { ...job, forMs: 2000 });
      const before = await rig.svc.call('usage');
      const { ok } = await rig.load.call('run', { ...job, forMs: 4000 });
      const wholeUs = ((await rig.svc.call('usage')).cpuUs - before.cpuUs) / ok;
      const share = (100 * upperUs) / (wholeUs - upperUs);
      process.stdout.write(
        `${name}: the whole proxy takes ${wholeUs.toFixed(0)} µs of processor time a request; ` +
          `the bound is ${share.toFixed(1)} % of it without\n`,
      );
    }
  } finally {
    await rig.close();
  }
}

try {
  await main();
} finally {
  rmSync(home, { recursive: true, force: true });
}
