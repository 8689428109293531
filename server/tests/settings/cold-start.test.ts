/**
 * Compression threads that start slowly or not at all: requests proceed, and the first thread that
 * is ready is used.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxyProcess } from '../../../fixtures/proxy-process.ts';
import { closeClients, exchange } from '../../../fixtures/server/exchange.ts';
import { askingOf, foundHits } from '../../../fixtures/server/search-results.ts';
import { startUpstream } from '../../../fixtures/upstream.ts';

/** A busy machine takes long to start a thread. */
const TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const PRELOAD = new URL('../../../fixtures/server/held-start.js', import.meta.url).href;

/** Too large to be compressed on the event loop. */
const LARGE = foundHits(600);

interface Health {
  readonly status: string;
  readonly reasons: readonly string[];
}

interface ColdProxy {
  /** Sends the body; true if it was compressed. */
  isSaved(body: string): Promise<boolean>;
  health(): Promise<Health>;
  /** Lets the threads start. */
  release(): void;
}

async function withCold(
  maxTimeMs: number,
  crashes: boolean,
  use: (proxy: ColdProxy) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cold-'));
  const file = join(folder, 'go');
  const upstream = await startUpstream();
  const env = {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    HELD_UNTIL: file,
    ...(crashes && { CRASHES: '1' }),
  };
  const yaml = `compression: { threshold_tokens: 0, max_time_ms: ${maxTimeMs} }\nsecurity: { rate_limit_per_minute: 0 }`;
  try {
    await withProxyProcess({ upstreamUrl: upstream.url, yaml, env }, ({ port }) =>
      use({
        async isSaved(body) {
          const { status } = await exchange(port, {
            body,
            signal: AbortSignal.timeout(TIMEOUT_MS),
          });
          assert.is(status, 200);
          return upstream.requests.at(-1)!.body.length < body.length;
        },
        async health() {
          const { text } = await exchange(port, { path: '/health', method: 'GET' });
          return JSON.parse(text) as Health;
        },
        release: () => writeFileSync(file, ''),
      }),
    );
  } finally {
    await upstream.close();
    rmSync(folder, { recursive: true });
  }
}

async function until(is: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  while (!(await is())) {
    signal.throwIfAborted();
    await setTimeout(POLL_MS);
  }
}

test('a slow start does not block requests, which are compressed once it has finished', () =>
  withCold(1000, false, async (proxy) => {
    const body = askingOf('Where are the items?', LARGE);
    const sent = await Promise.all([1, 2, 3].map(() => proxy.isSaved(body)));
    assert.equal(sent, [false, false, false]);
    const { status, reasons } = await proxy.health();
    assert.is(status, 'degraded');
    assert.match(reasons.join(), /^compression: the last 3 requests were sent unchanged: no thr/);
    proxy.release();
    await until(() => proxy.isSaved(body));
    await until(async () => (await proxy.health()).status === 'ok');
  }));

test('threads that cannot start are reported in /health, and small requests work without them', () =>
  withCold(1000, true, async (proxy) => {
    for (let n = 0; n < 3; n++) assert.not.ok(await proxy.isSaved(askingOf(`Where? ${n}`, LARGE)));
    const { status, reasons } = await proxy.health();
    assert.is(status, 'degraded');
    assert.match(reasons.join(), /^compression: .* failed to start \(cannot start here\)/);
    assert.not.ok(await proxy.isSaved(askingOf('Where?', LARGE)));
    assert.ok(await proxy.isSaved(askingOf('Where, once more?', foundHits(60))));
  }));

test.after(closeClients);
test.run();
