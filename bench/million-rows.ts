/**
 * How long questions take with a ledger of a million rows, spread over the last seven days:
 * `node dist/bench/million-rows.js [rows]`. The ledger is generated in a temporary folder.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withProxy } from '../fixtures/proxy.ts';
import { createRandom } from '../fixtures/random.ts';
import { ledgerRow } from '../stages/ledger/row.ts';
import { openStore } from '../stages/ledger/store.ts';
import type { Cell } from '../stages/ledger/tables.ts';
import { migrations, pushCells } from '../stages/ledger/tables.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const DAY_MS = 86_400_000;
const BATCH = 5000;
const ROUNDS = 15;
const PATHS = ['/metrics', '/stats', '/savings', '/metrics/dashboard', '/health'];

/** Writes the rows and returns the milliseconds that it took. */
function generate(file: string): number {
  const random = createRandom(1);
  const startedMs = performance.now();
  const store = openStore({ file, synchronous: 'normal', migrations }, Date.now());
  const nowMs = Date.now();
  const whole = (below: number): number => Math.floor(random() * below);
  for (let n = 0; n < ROWS;) {
    const cells: Cell[] = [];
    for (const end = Math.min(n + BATCH, ROWS); n < end; n += 1) {
      const fails = whole(50) === 0;
      const inputTokensRaw = 500 + whole(20_000);
      const savedTokens = whole(inputTokensRaw / 2);
      pushCells(
        cells,
        ledgerRow({
          id: `req_${n}`,
          startedMs: Math.floor(nowMs - 7 * DAY_MS + (n / ROWS) * 7 * DAY_MS),
          endpoint: '/v1/messages',
          outcome: fails ? 'error' : 'ok',
          status: fails ? 529 : 200,
          provider: ['messages', 'chat', 'generative'][whole(3)]!,
          model: `model-${whole(6)}`,
          client: `client-${whole(5)}`,
          sessionId: `session-${Math.floor(n / 40)}`,
          mode: 'hybrid',
          inputTokensRaw,
          inputTokensSent: inputTokensRaw - savedTokens,
          savedTokens,
          outputTokens: whole(2000),
          costNanoUsd: whole(50_000_000),
          costSavedNanoUsd: whole(5_000_000),
          latencyMs: whole(60_000),
          attempts: 1,
        }),
      );
    }
    store.insert(cells);
  }
  store.close();
  return performance.now() - startedMs;
}

const folder = mkdtempSync(join(tmpdir(), 'svc-million-'));
try {
  const file = join(folder, 'monitor.db');
  process.stdout.write(`${ROWS} rows written in ${(generate(file) / 1000).toFixed(1)} s\n`);
  const yaml = 'metrics: {retention_days: 30}';
  await withProxy({ yaml, env: { SVC_DB: file } }, async ({ proxy }) => {
    const since = encodeURIComponent(new Date(Date.now() - 7 * DAY_MS).toISOString());
    for (const path of [...PATHS, `/dashboard/api/report?since=${since}`]) {
      const timesMs: number[] = [];
      let status = 0;
      const rounds = path.startsWith('/dashboard') ? 3 : ROUNDS;
      for (let round = 0; round < rounds; round += 1) {
        const startedMs = performance.now();
        const response = await fetch(`${proxy.url}${path}`);
        await response.arrayBuffer();
        ({ status } = response);
        timesMs.push(performance.now() - startedMs);
      }
      const first = timesMs[0]!.toFixed(1);
      const sorted = timesMs.slice(1).toSorted((a, b) => a - b);
      const median = sorted[Math.floor(sorted.length / 2)]!.toFixed(1);
      process.stdout.write(
        `${path}: ${status}, first ${first} ms, median ${median} ms, slowest ${sorted.at(-1)!.toFixed(1)} ms\n`,
      );
    }
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
