/**
 * Hostile requests to a real proxy in its own process, some of them answered by a misbehaving
 * provider. `SVC_FUZZ_COUNT` and `SVC_FUZZ_SEED` set how many and which; a reported request can be
 * reproduced from its seed and index.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { forkProxy, killProxy } from '../../../fixtures/proxy-process.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import { startUpstream } from '../../../fixtures/upstream.ts';
import { openLedgerReader } from '../../../stages/ledger/sqlite/database.ts';
import { sendHostile } from './fuzz-testing.ts';
import type { ExchangeResult } from './fuzz-testing.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const COUNT = Number(process.env['SVC_FUZZ_COUNT'] ?? 1500);
const SEED = Number(process.env['SVC_FUZZ_SEED'] ?? 1);
const CONCURRENCY = 24;
/** Requests between two checks of memory. */
const ROUND = 5000;
const MB = 2 ** 20;
const ROWS_WITHIN_MS = 120_000;
/** Time within which a breaker opened by the provider's faults lets a request through again. */
const RECOVERS_WITHIN_MS = 300_000;

/** No key cooldown, short timeouts, and no rate limit. */
const YAML = `
security: { rate_limit_per_minute: 0 }
keys: { cooldown_429_seconds: 0, cooldown_401_seconds: 0 }
advanced: { proxy_timeout_seconds: 1, idle_timeout_seconds: 1 }
`;

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

interface Row {
  readonly id: string;
  readonly status: number | null;
  readonly errorKind: string | null;
}

async function memoryOf(child: ChildProcess): Promise<Memory> {
  child.send('memory');
  const [memory] = (await once(child, 'message')) as [Memory];
  return memory;
}

/** Returns the rows once those of all `ids` are stored, or those stored before the deadline. */
async function rowsOf(file: string, ids: readonly (string | undefined)[]): Promise<Row[]> {
  const untilMs = Date.now() + ROWS_WITHIN_MS;
  for (;;) {
    const reader = openLedgerReader(file);
    try {
      const rows = await reader
        .selectFrom('requests')
        .select(['id', 'status', 'errorKind'])
        .execute();
      const stored = new Set(rows.map(({ id }) => id));
      if (ids.every((id) => stored.has(id ?? '')) || Date.now() > untilMs) return rows;
    } finally {
      await reader.destroy();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function nameOf({ sent, status, problem }: ExchangeResult): string {
  const { method, target, index } = sent;
  return `seed ${SEED} index ${index}: ${method} ${target}, ${status ?? problem}`;
}

function countsOf(results: readonly ExchangeResult[]): string {
  const counts = new Map<string, number>();
  for (const { status, problem, sent } of results) {
    const name = String(status ?? problem ?? `left ${sent.leaves}`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}

/**
 * Asserts that each row belongs to exactly one request, and that every request to a provider has
 * its row.
 */
function checkRows(results: readonly ExchangeResult[], rows: readonly Row[]): void {
  const byId = new Map(results.flatMap((each) => (each.id === undefined ? [] : [[each.id, each]])));
  const ids = new Set(rows.map(({ id }) => id));
  assert.is(ids.size, rows.length, 'no id has two rows');
  const lost = results.filter(({ id, isOnLedger }) => isOnLedger && !ids.has(id ?? ''));
  assert.equal(lost.slice(0, 5).map(nameOf), [], `${lost.length} rows lost`);
  const strays = rows.filter(({ id }) => !byId.has(id)).length;
  const unknown = results.filter(({ id }) => id === undefined).length;
  assert.ok(strays <= unknown, `${strays} rows of ${unknown} requests without an answer`);
  const broken = rows.filter(({ errorKind }) =>
    ['internal', 'config', 'usage'].includes(errorKind ?? ''),
  );
  const names = broken.map(({ id }) => {
    const found = byId.get(id);
    return found === undefined ? `seed ${SEED}, of a client that left` : nameOf(found);
  });
  assert.equal(names.slice(0, 5), [], `${broken.length} internal errors`);
  print(`fuzz: ${rows.length} rows, ${strays} of clients that left before an answer`);
}

/** Asserts that the proxy responds, and serves once its breakers have closed. */
async function checkAlive(port: number): Promise<void> {
  const health = await exchange(port, { method: 'GET', path: '/health' });
  assert.is(health.status, 200);
  const untilMs = Date.now() + RECOVERS_WITHIN_MS;
  for (;;) {
    const { status, text } = await exchange(port, { body: json(MESSAGE) });
    if (status === 200) return;
    assert.ok(Date.now() < untilMs, `${status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

test(`${COUNT} hostile requests (seed ${SEED}) crash nothing, lose no row and cause no 500`, async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-fuzz-'));
  writeFileSync(join(home, 'config.yaml'), YAML, { mode: 0o600 });
  const upstream = await startUpstream({ record: false, seed: SEED });
  const proxy = await forkProxy(home, { upstreamUrl: upstream.url });
  const startMs = performance.now();
  try {
    const results: ExchangeResult[] = [];
    for (let from = 0; from < COUNT; from += ROUND) {
      const to = Math.min(from + ROUND, COUNT);
      const options = { port: proxy.port, seed: SEED, from, to, concurrency: CONCURRENCY };
      // Bodies are not kept: an index is enough to generate its body again.
      for (const each of await sendHostile(options)) results.push(withoutBody(each));
      const death = proxy.child.exitCode ?? proxy.child.signalCode;
      assert.is(
        death,
        null,
        `the process died near ${results.filter(isUnanswered).slice(0, 3).map(nameOf).join('; ')}`,
      );
      const { rss, heapUsed } = await memoryOf(proxy.child);
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      print(
        `fuzz: ${to} of ${COUNT}, seed ${SEED}, ${seconds} s, RSS ${(rss / MB).toFixed()} MB, heap ${(heapUsed / MB).toFixed()} MB`,
      );
    }
    print(`fuzz: ${countsOf(results)}`);
    print(`fuzz: valid ones: ${countsOf(results.filter(({ sent }) => sent.isValid))}`);
    const onLedger = results.filter(({ isOnLedger }) => isOnLedger);
    const rows = await rowsOf(
      join(home, 'monitor.db'),
      onLedger.map(({ id }) => id),
    );
    checkRows(results, rows);
    const unanswered = results.filter(isUnanswered);
    assert.equal(unanswered.slice(0, 5).map(nameOf), [], `${unanswered.length} without an answer`);
    await checkAlive(proxy.port);
  } finally {
    await killProxy(proxy);
    await upstream.close();
    rmSync(home, { recursive: true, force: true });
  }
});

test('a response without a stream is forwarded to a client that requested one', () =>
  withProxy({}, async (t) => {
    const path = '/v1beta/models/gemini-fixture-1:streamGenerateContent?alt=sse';
    const body = json({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] });
    for (const [name, status] of [
      ['redirect', 302],
      ['204', 204],
      ['304', 304],
    ] as const) {
      t.upstream.script(undefined, name);
      const response = await exchange(t.proxy.port, { path, body });
      assert.is(response.status, status, name);
      assert.ok(response.whole, name);
    }
  }));

function isUnanswered({ problem }: ExchangeResult): boolean {
  return problem !== undefined;
}

function withoutBody(results: ExchangeResult): ExchangeResult {
  return { ...results, sent: { ...results.sent, body: Buffer.alloc(0), rawHeaders: [] } };
}

test.after(closeClients);
test.run();
