/**
 * A proxy in a process of its own: killed under load it loses no acknowledged row, and a client
 * that stops reading costs it little. `SVC_KILL_ROUNDS` sets the rounds of the first (3).
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { forkProxy, killProxy } from '../../fixtures/proxy-process.ts';
import { threadsWaitedMs } from '../../fixtures/starvation.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import type { Upstream } from '../../fixtures/upstream.ts';
import { ledgerFaults, stored } from '../../fixtures/ledger/temp-ledger.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  openSocket,
} from '../../fixtures/server/exchange.ts';

const ROUNDS = Number(process.env['SVC_KILL_ROUNDS'] ?? 3);
const CLIENTS = 8;
/** What is no part of a promise may take long on a slow machine: a start, or megabytes of a kernel's buffers. */
const PATIENCE_MS = 60_000;
/** A row is promised for an answer that ended at least so long ago. */
const ACKNOWLEDGED_MS = 100;
/** A quiet machine lets this process, and each thread of the proxy, wait for less. */
const QUIET_STALL_MS = 25;

/** Runs `use` with a home and an upstream, and clears both away. */
async function withHome(use: (home: string, upstream: Upstream) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-process-'));
  const upstream = await startUpstream();
  try {
    await use(home, upstream);
  } finally {
    await upstream.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Lets the proxy run for `ms` in which nothing had to wait for a processor, and resolves with the
 * longest that this process, or a thread of `pid`, did wait besides: so every row that was there at
 * the start is promised at the end, however starved the machine is.
 */
async function runOn(pid: number, ms: number): Promise<number> {
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  const before = threadsWaitedMs(pid);
  stalls.enable();
  const startMs = Date.now();
  for (let stalledMs = 0; ;) {
    const leftMs = ms - (Date.now() - startMs - stalledMs);
    if (leftMs <= 0) {
      stalls.disable();
      return stalledMs;
    }
    await pause(leftMs);
    const waits = [...threadsWaitedMs(pid)].map(
      ([id, waitedMs]) => waitedMs - (before.get(id) ?? 0),
    );
    stalledMs = Math.max(stalls.max / 1e6, ...waits);
  }
}

interface History {
  /** Requests that were sent, whatever became of them. */
  sent: number;
  /** Ids of answers that ended, with the time. */
  readonly ended: Map<string, number>;
}

/** Sends requests until the proxy is gone. */
async function load(port: number, history: History): Promise<void> {
  for (;;) {
    history.sent += 1;
    try {
      const body = json(MESSAGE, { stream: history.sent % 2 === 0 });
      const got = await exchange(port, { body, signal: AbortSignal.timeout(PATIENCE_MS) });
      if (got.whole) history.ended.set(String(got.headers['x-svc-request-id']), Date.now());
    } catch {
      return;
    }
  }
}

test(`${ROUNDS} kills under load: no acknowledged row lost, none twice, none invented`, () =>
  withHome(async (home, upstream) => {
    const acknowledged = new Set<string>();
    let sent = 0;
    let starved = 0;
    for (let round = 0; round < ROUNDS + starved; round += 1) {
      const running = await forkProxy(home, { upstreamUrl: upstream.url });
      const { port } = running;
      const history: History = { sent: 0, ended: new Map() };
      const clients = Array.from({ length: CLIENTS }, () => load(port, history));
      await soon(() => history.ended.size >= 20);
      const stalledMs = await runOn(
        running.child.pid ?? 0,
        ACKNOWLEDGED_MS + 50 + Math.random() * 250,
      );
      const killedMs = Date.now();
      await killProxy(running);
      await Promise.all(clients);
      sent += history.sent;
      // A starved machine may delay a row by what it kept a thread waiting; another round is held to the promise itself.
      const isStarved = stalledMs > QUIET_STALL_MS;
      if (isStarved && starved < ROUNDS) starved += 1;
      const lateMs = isStarved ? stalledMs : 0;
      for (const [id, atMs] of history.ended)
        if (atMs <= killedMs - ACKNOWLEDGED_MS - lateMs) acknowledged.add(id);
      const file = join(home, 'monitor.db');
      assert.equal(ledgerFaults(file), []);
      const ids = (await stored(file)).map((row) => row.id);
      const found = new Set(ids);
      assert.is(found.size, ids.length, 'a row is there twice');
      assert.ok(ids.length <= sent, 'more rows than requests');
      assert.equal(
        [...acknowledged].filter((id) => !found.has(id)),
        [],
        'acknowledged rows were lost',
      );
    }
    process.stdout.write(
      `  ${ROUNDS} kills, ${acknowledged.size} acknowledged rows kept; ${starved} drawn again\n`,
    );
    assert.ok(acknowledged.size > ROUNDS * 10, `${acknowledged.size} acknowledged`);
  }));

/** Most that may be held of one stream whose client does not read. */
const HELD_BYTES = 256 * 1024;
const READERS = 16;
/** Looks that find nothing new, one behind the other: a starved process also stands still for one. */
const STILL_LOOKS = 4;

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly arrayBuffers: number;
}

/** Its memory once that stands still, since buffers are freed behind the collector. */
async function memoryOf(child: ChildProcess): Promise<Memory> {
  const untilMs = Date.now() + PATIENCE_MS;
  let memory: Memory | undefined;
  for (let looks = 0; looks < STILL_LOOKS; looks += 1) {
    child.send('memory');
    const [now] = (await once(child, 'message')) as [Memory];
    assert.ok(Date.now() < untilMs, `its memory does not stand still: ${now.arrayBuffers} bytes`);
    if (now.arrayBuffers !== memory?.arrayBuffers) looks = 0;
    memory = now;
    await pause(30);
  }
  assert.ok(memory !== undefined);
  return memory;
}

test('a stream whose client does not read holds little memory', () =>
  withHome(async (home, upstream) => {
    const running = await forkProxy(home, { upstreamUrl: upstream.url });
    try {
      await holdsLittle(running.child, running.port, upstream);
    } finally {
      await killProxy(running);
    }
  }));

async function holdsLittle(child: ChildProcess, port: number, upstream: Upstream): Promise<void> {
  const body = json(MESSAGE, { stream: true });
  for (let n = 0; n < 50; n += 1)
    await exchange(port, { body, signal: AbortSignal.timeout(PATIENCE_MS) });
  const before = await memoryOf(child);
  upstream.script(undefined, 'flood', { bytes: 8000 });
  const sockets: Socket[] = [];
  for (let n = 0; n < READERS; n += 1) {
    const socket = await openSocket(port, true);
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    sockets.push(socket);
  }
  await stillness(() => upstream.connections.reduce((sum, each) => sum + each.bytesWritten, 0));
  const after = await memoryOf(child);
  const held = (name: keyof Memory) => Math.round((after[name] - before[name]) / READERS / 1024);
  process.stdout.write(
    `  a stalled stream holds ${held('arrayBuffers')} KiB of buffers, ${held('heapUsed')} KiB of heap; rss grew by ${held('rss')} KiB\n`,
  );
  for (const socket of sockets) socket.destroy();
  assert.ok(held('arrayBuffers') * 1024 <= HELD_BYTES, `${held('arrayBuffers')} KiB are held`);
}

/** Waits until a count stands still: kernels let their buffers grow for some time. */
async function stillness(count: () => number): Promise<void> {
  const untilMs = Date.now() + PATIENCE_MS;
  let last = count();
  for (let looks = 0; looks < STILL_LOOKS; looks += 1) {
    await pause(100);
    const now = count();
    assert.ok(Date.now() < untilMs, `more and more is taken from the upstream: ${now} bytes`);
    if (now !== last) looks = -1;
    last = now;
  }
}

async function soon(isTrue: () => boolean): Promise<void> {
  const untilMs = Date.now() + PATIENCE_MS;
  while (!isTrue()) {
    assert.ok(Date.now() < untilMs, 'it did not happen in time');
    await pause(5);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test.after(closeClients);
test.run();
