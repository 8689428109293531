import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { ledgerRow } from '../../stages/ledger/row.ts';
import { openStore } from '../../stages/ledger/sqlite/store.ts';
import type { Cell } from '../../stages/ledger/tables.ts';
import { migrations, pushCells } from '../../stages/ledger/tables.ts';

/** The proxy's own look at old rows finds none; and a quick machine sends more than the default limit lets in. */
const YAML = `metrics: { retention_days: 3650 }
security: { rate_limit_per_minute: 0 }`;
const OLD_ROWS = 100_000;
const BATCH = 5000;
/** Of the time that deleting takes: what a request, or its row, may wait for at most. */
const LONGEST_PART = 1 / 4;

/** Writes rows of the day `startedMs`. */
function fill(file: string, startedMs: number): void {
  const store = openStore({ file, synchronous: 'normal', migrations }, Date.now());
  for (let n = 0; n < OLD_ROWS;) {
    const cells: Cell[] = [];
    for (const end = n + BATCH; n < end; n += 1) {
      const id = `req_old_${String(n).padStart(6, '0')}`;
      pushCells(
        cells,
        ledgerRow({ id, startedMs: startedMs + n, endpoint: '/v1/messages', outcome: 'ok' }),
      );
    }
    store.insert(cells);
  }
  store.close();
}

test('requests are answered and their rows stored while 100,000 old rows are deleted', () =>
  withProxy({ yaml: YAML }, async ({ proxy, db }) => {
    const { ledgerFile } = proxy.services;
    await ledgerFile.ready();
    fill(db, Date.UTC(2026, 0, 1));
    await exchange(proxy.port, { body: json(MESSAGE) });

    const startedMs = performance.now();
    let isOver = false;
    const pruning = ledgerFile.prune(Date.UTC(2026, 0, 2)).finally(() => (isOver = true));
    const answeredMs: number[] = [];
    const storedMs: number[] = [];
    while (!isOver) {
      const sentMs = performance.now();
      const { status } = await exchange(proxy.port, { body: json(MESSAGE) });
      assert.is(status, 200);
      answeredMs.push(performance.now() - sentMs);
      proxy.services.afterwards.flush();
      await ledgerFile.flush();
      storedMs.push(performance.now() - sentMs);
    }
    const tookMs = performance.now() - startedMs;
    assert.is(await pruning, OLD_ROWS);
    assert.ok(storedMs.length > 20, `only ${storedMs.length} rows were stored in ${tookMs} ms`);
    const longestMs = { answered: Math.max(...answeredMs), stored: Math.max(...storedMs) };
    const faults = JSON.stringify({ tookMs, longestMs });
    assert.ok(longestMs.answered < tookMs * LONGEST_PART, faults);
    assert.ok(longestMs.stored < tookMs * LONGEST_PART, faults);
  }));

test.after(closeClients);
test.run();
