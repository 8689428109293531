/**
 * Names in a request are kept with its trace and may be as long as a body: memory must stay
 * bounded.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { forkProxy, killProxy } from '../../../fixtures/proxy-process.ts';
import { startUpstream } from '../../../fixtures/upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const MB = 2 ** 20;
const NAME_BYTES = 4 * MB;
const REQUESTS = 50;
/** Names kept whole would take `REQUESTS * NAME_BYTES`. */
const MAX_KEPT_BYTES = 30 * MB;

interface Memory {
  readonly heapUsed: number;
}

async function memoryOf(child: ChildProcess): Promise<Memory> {
  child.send('memory');
  const [memory] = (await once(child, 'message')) as [Memory];
  return memory;
}

async function inHome(use: (home: string) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-names-'));
  try {
    await use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

test('very long model names do not stay in memory after their requests', () =>
  inHome(async (home) => {
    const upstream = await startUpstream();
    const proxy = await forkProxy(home, { upstreamUrl: upstream.url });
    try {
      await exchange(proxy.port, { body: json(MESSAGE) });
      const before = await memoryOf(proxy.child);
      for (let at = 0; at < REQUESTS; at += 1) {
        const model = `${at}-`.padEnd(NAME_BYTES, 'm');
        if (at % 5 === 0) upstream.script(undefined, '503');
        const [path, base] =
          at % 2 === 0 ? ['/v1/messages', MESSAGE] : ['/v1/chat/completions', CHAT];
        await exchange(proxy.port, { path, body: json(base, { model }) });
      }
      const traces = await exchange(proxy.port, { method: 'GET', path: '/traces' });
      const after = await memoryOf(proxy.child);
      const list = (JSON.parse(traces.text) as { traces: { model: string }[] }).traces;
      assert.ok(list.length >= REQUESTS);
      assert.ok(list.every(({ model }) => model.length <= 256));
      assert.ok(after.heapUsed - before.heapUsed < MAX_KEPT_BYTES, `${after.heapUsed}`);
      assert.ok(traces.text.length < MB);
    } finally {
      await killProxy(proxy);
      await upstream.close();
    }
  }));

test.after(closeClients);
test.run();
