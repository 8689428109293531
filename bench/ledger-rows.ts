/** A generated ledger, for measuring what depends on its size. */
import { createRandom } from '../fixtures/random.ts';
import { migrations } from '../stages/ledger/migrations.ts';
import { ledgerRow } from '../stages/ledger/row.ts';
import { openStore } from '../stages/ledger/sqlite/store.ts';
import type { Cell } from '../stages/ledger/tables.ts';
import { pushCells } from '../stages/ledger/tables.ts';

const DAY_MS = 86_400_000;
const BATCH = 5000;

/** Writes `rows` rows, spread over the last seven days; returns the milliseconds taken. */
export function writeLedger(file: string, rows: number): number {
  const random = createRandom(1);
  const startedMs = performance.now();
  const store = openStore({ file, synchronous: 'normal', migrations }, Date.now());
  const nowMs = Date.now();
  const wholeBelow = (below: number): number => Math.floor(random() * below);
  for (let n = 0; n < rows;) {
    const cells: Cell[] = [];
    for (const end = Math.min(n + BATCH, rows); n < end; n += 1) {
      const fails = wholeBelow(50) === 0;
      const inputTokensRaw = 500 + wholeBelow(20_000);
      const savedTokens = wholeBelow(inputTokensRaw / 2);
      pushCells(
        cells,
        ledgerRow({
          id: `req_${n}`,
          startedMs: Math.floor(nowMs - 7 * DAY_MS + (n / rows) * 7 * DAY_MS),
          endpoint: '/v1/messages',
          outcome: fails ? 'error' : 'ok',
          status: fails ? 529 : 200,
          provider: ['messages', 'chat', 'generative'][wholeBelow(3)]!,
          model: `model-${wholeBelow(6)}`,
          client: `client-${wholeBelow(5)}`,
          sessionId: `session-${Math.floor(n / 40)}`,
          mode: 'hybrid',
          inputTokensRaw,
          inputTokensSent: inputTokensRaw - savedTokens,
          savedTokens,
          outputTokens: wholeBelow(2000),
          costNanoUsd: wholeBelow(50_000_000),
          costSavedNanoUsd: wholeBelow(5_000_000),
          latencyMs: wholeBelow(60_000),
          attempts: 1,
        }),
      );
    }
    store.insert(cells);
  }
  store.close();
  return performance.now() - startedMs;
}
