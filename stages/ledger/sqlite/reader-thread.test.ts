import { renameSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../../engine/index.ts';
import { systemClock } from '../../../engine/index.ts';
import { folderForEach } from '../../../fixtures/ledger/temp-ledger.ts';
import { savingsReport, totalsBy, totalsOf } from '../queries.ts';
import { ledgerRow } from '../row.ts';
import { ThreadedWriter } from '../writer/threaded-writer.ts';
import { openLedgerReader } from './database.ts';
import { openThreadedLedgerReader } from './reader-thread.ts';

const { at } = folderForEach(test);

async function write(file: string, ids: readonly string[]): Promise<void> {
  const writer = new ThreadedWriter({
    db: file,
    clock: systemClock,
    onProblem: (error) => assert.unreachable(error.message),
  });
  for (const id of ids) {
    writer.record(
      ledgerRow({
        id,
        startedMs: 1000,
        endpoint: '/',
        outcome: 'ok',
        savedTokens: 7,
        latencyMs: 1.5,
      }),
    );
  }
  await writer.close();
}

test('results equal those of the reader on this thread, also for concurrent queries', async () => {
  const file = at('monitor.db');
  await write(file, ['a', 'b', 'c']);
  const here = openLedgerReader(file);
  const there = openThreadedLedgerReader(file);
  const [totals, report, groups] = await Promise.all([
    totalsOf(there),
    savingsReport(there, 5000),
    totalsBy(there, 'provider'),
  ]);
  assert.equal(totals, await totalsOf(here));
  assert.equal(report, await savingsReport(here, 5000));
  assert.equal(groups, await totalsBy(here, 'provider'));
  await Promise.all([here.destroy(), there.destroy()]);
});

test('a missing ledger is reported, and found once it exists', async () => {
  const file = at('monitor.db');
  const reader = openThreadedLedgerReader(file);
  const error = await totalsOf(reader).catch((thrown: unknown) => thrown as SvcError);
  assert.equal(
    [(error as SvcError).kind, (error as SvcError).cure?.length !== 0],
    ['not_found', true],
  );
  await write(file, ['a']);
  assert.is((await totalsOf(reader)).requests, 1);
  renameSync(file, `${file}.aside`);
  await write(file, ['b', 'c']);
  const ids = await reader.selectFrom('requests').select('id').orderBy('id').execute();
  assert.equal(ids, [{ id: 'b' }, { id: 'c' }]);
  await reader.destroy();
});

test('a result that arrives while the reader is being closed does not end the process', async () => {
  const file = at('monitor.db');
  await write(file, ['a']);
  const reader = openThreadedLedgerReader(file);
  await totalsOf(reader);
  const last = totalsOf(reader).catch((thrown: unknown) => thrown as Error);
  // The query is sent after a few microtasks; then its result waits unread.
  await new Promise((resolve) => setImmediate(resolve));
  const endMs = performance.now() + 100;
  while (performance.now() < endMs);
  await reader.destroy();
  const reported = await last;
  assert.ok(reported instanceof Error || reported.requests === 1);
});

test('a stream of rows is refused because rows come in one message', async () => {
  const reader = openThreadedLedgerReader(at('monitor.db'));
  const read = async (): Promise<void> => {
    for await (const row of reader.selectFrom('requests').select('id').stream())
      assert.unreachable(row.id);
  };
  const error = await read().catch((thrown: unknown) => thrown as Error);
  assert.match((error as Error).message, /whole results/);
  await reader.destroy();
});

test('nothing can be written through a reader', async () => {
  const file = at('monitor.db');
  await write(file, ['a']);
  const reader = openThreadedLedgerReader(file);
  const removal = await reader
    .deleteFrom('requests')
    .returning('id')
    .execute()
    .catch((thrown: unknown) => thrown as Error);
  assert.match((removal as Error).message, /readonly/);
  const transaction = await reader
    .transaction()
    .execute(() => Promise.resolve())
    .catch((thrown: unknown) => thrown as Error);
  assert.match((transaction as Error).message, /read-only/);
  await reader.destroy();
});

test.run();
