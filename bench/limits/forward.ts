/**
 * Measures what forward mode adds: to a request on an open connection, and to the bytes of a
 * tunnel.
 */
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HOSTS, connectHead, connectWith, withForwardMode } from '../../fixtures/forward-mode.ts';
import type { ForwardMode } from '../../fixtures/forward-mode.ts';
import { MESSAGE, json } from '../../fixtures/server/exchange.ts';
import { startChild } from '../channel.ts';
import type { usage } from '../channel.ts';
import { median, medianDifference, medianRatio } from '../figures.ts';
import type { LimitGroup, Measured } from './limit.ts';

const ADDED_MS = 0.3;
/** Plain over svc: at least 0.8 of its throughput. */
const MAX_SLOWDOWN = 1.25;
const ROUNDS = 9;
/** Rounds until the code of both is compiled. */
const WARM_UP_ROUNDS = 3;
const REQUESTS = 200;
const WARM_UP = 600;
const BYTES = 192 * 1024 * 1024;

const [ANTHROPIC] = HOSTS;
const FIELDS = { 'content-type': 'application/json', 'x-api-key': 'mine' };

/** Returns the milliseconds to the end of the response. */
async function ask(agent: Agent, host: string, port: number, body: string): Promise<number> {
  const startedMs = performance.now();
  const request = httpRequest({
    agent,
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/v1/messages',
    headers: { ...FIELDS, host, 'content-length': Buffer.byteLength(body) },
  });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  return performance.now() - startedMs;
}

/** Returns an agent whose one connection is `socket`. */
function agentOn(socket: Socket): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => socket;
  return agent;
}

/**
 * Alternates between the base URL and an intercepted connection, to the same provider by the same
 * outbound route.
 */
async function requests(t: ForwardMode): Promise<Measured> {
  const body = json(MESSAGE);
  const plain = new Agent({ keepAlive: true, maxSockets: 1 });
  const intercepted = agentOn(await t.open(ANTHROPIC));
  const byBaseUrl = () => ask(plain, `127.0.0.1:${t.port}`, t.port, body);
  const byTunnel = () => ask(intercepted, ANTHROPIC, t.port, body);
  for (let n = 0; n < WARM_UP; n += 1) {
    await byBaseUrl();
    await byTunnel();
  }
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const taken: [number[], number[]] = [[], []];
    for (let n = 0; n < REQUESTS; n += 1) {
      taken[0].push(await byBaseUrl());
      taken[1].push(await byTunnel());
    }
    taken.forEach((all, at) => times[at]!.push(median(all)));
  }
  plain.destroy();
  intercepted.destroy();
  return {
    what: 'added to a request on an open connection, p50 over a base URL',
    unit: 'ms',
    max: ADDED_MS,
    value: medianDifference(times[1], times[0]),
  };
}

/** Returns the MB per second through a new tunnel. */
async function rate(port: number, head: string, way: 'D' | 'U'): Promise<number> {
  const { socket, status, head: answered } = await connectWith(port, head);
  if (status !== 200) throw new Error(answered);
  const startedMs = performance.now();
  let left = way === 'D' ? BYTES : 1;
  socket.on('data', (piece: Buffer) => {
    left -= piece.length;
    if (left <= 0) socket.emit('enough');
  });
  const enough = once(socket, 'enough');
  socket.resume();
  socket.write(`${way} ${BYTES}\n`);
  if (way === 'U') {
    const piece = Buffer.alloc(64 * 1024, 'x');
    for (let sent = 0; sent < BYTES; sent += piece.length)
      if (!socket.write(piece)) await once(socket, 'drain');
  }
  await enough;
  const tookMs = performance.now() - startedMs;
  socket.destroy();
  return BYTES / 1e6 / (tookMs / 1000);
}

/** Returns the processor time used by svc's process, in microseconds. */
async function cpuOf({ running: { child } }: ForwardMode): Promise<number> {
  const message = once(child, 'message');
  child.send('usage');
  const [{ cpuUs }] = (await message) as [{ cpuUs: number }];
  return cpuUs;
}

/** Throughput in MB per second, and its processor time in microseconds. */
interface Transfer {
  readonly rate: number;
  readonly cpuUs: number;
}

async function measureTransfer(
  cpu: () => Promise<number>,
  carry: () => Promise<number>,
): Promise<Transfer> {
  const before = await cpu();
  const rateOf = await carry();
  return { rate: rateOf, cpuUs: (await cpu()) - before };
}

async function measure(): Promise<readonly Measured[]> {
  const source = await startChild('bench/byte-source.js');
  const plain = await startChild<{ usage: typeof usage }>('bench/plain-connect-proxy.js');
  const measured: Measured[] = [];
  const authority = `127.0.0.1:${source.port}`;
  const yaml = `forward_proxy: { ports: [443, ${source.port}], private_hosts: [127.0.0.1] }\nsecurity: { rate_limit_per_minute: 1000000 }\n`;
  try {
    await withForwardMode({ yaml }, async (t) => {
      measured.push(await requests(t));
      for (const [way, what] of [
        ['D', 'down'],
        ['U', 'up'],
      ] as const) {
        const all: [Transfer[], Transfer[]] = [[], []];
        for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
          const both = [
            await measureTransfer(
              async () => (await plain.call('usage')).cpuUs,
              () => rate(plain.port, connectHead(authority, undefined), way),
            ),
            await measureTransfer(
              () => cpuOf(t),
              () => rate(t.port, connectHead(authority, t.token), way),
            ),
          ];
          if (round >= WARM_UP_ROUNDS) both.forEach((one, at) => all[at]!.push(one));
        }
        const [direct, ours] = all;
        measured.push(
          {
            what: `a plain CONNECT proxy's throughput over a tunnel's, ${what}`,
            unit: 'x',
            max: MAX_SLOWDOWN,
            value: medianRatio(
              direct.map((one) => one.rate),
              ours.map((one) => one.rate),
            ),
          },
          {
            what: `a tunnel's processor time over a plain CONNECT proxy's, ${what}`,
            unit: 'x',
            max: MAX_SLOWDOWN,
            value: medianRatio(
              ours.map((one) => one.cpuUs),
              direct.map((one) => one.cpuUs),
            ),
          },
        );
      }
    });
  } finally {
    await plain.close();
    await source.close();
  }
  return measured;
}

export const FORWARD_LIMITS: readonly LimitGroup[] = [{ name: 'forward mode', measure }];
