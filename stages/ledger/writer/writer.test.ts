import { spawnSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLedgerReader } from '../sqlite/database.ts';
import { until } from '../../../fixtures/wait.ts';
import { folderForEach, rowOf, stored } from '../../../fixtures/ledger/temp-ledger.ts';

const { open, at } = folderForEach(test);

test('a row is read as it was recorded, with null for what was not measured', async () => {
  const { writer, file, errors } = open();
  const full = rowOf(1, {
    provider: 'messages',
    dialect: 'messages',
    modelRequested: 'fast',
    model: 'claude-sonnet-4-5',
    stream: true,
    status: 529,
    outcome: 'partial',
    errorKind: 'bad_gateway',
    errorCode: 'PROVIDER_003',
    inputTokensRaw: 9000,
    inputTokensSent: 6000,
    savedTokens: 3000,
    outputTokens: 0,
    cacheReadTokens: 7,
    cacheWriteTokens: 8,
    usageEstimated: true,
    costNanoUsd: 123_456_789_012,
    costSavedNanoUsd: 1,
    latencyMs: 12.5,
    ttfbMs: 3.25,
    attempts: 2,
    mode: 'hybrid',
    cacheHit: true,
    chunksInjected: 2,
    tokensInjected: 300,
    topChunks: ['a', 'b"c'],
    client: 'claude-code',
    sessionId: 's-1',
    skill: 'review',
    node: 'desk',
  });
  const bare = rowOf(2);
  writer.record(full);
  writer.record(bare);
  await writer.close();
  assert.equal(await stored(file), [{ ...full }, { ...bare }]);
  assert.equal(writer.stats(), {
    written: 2,
    queued: 0,
    dropped: 0,
    problem: undefined,
    replaced: undefined,
  });
  assert.equal(errors, []);
});

test('flush writes partial and full batches to the disk', async () => {
  const { writer, file } = open();
  for (let n = 0; n < 1234; n += 1) writer.record(rowOf(n));
  await writer.flush();
  assert.is((await stored(file)).length, 1234);
  assert.is(writer.stats().queued, 0);
  await writer.close();
});

test('flush waits for earlier rows but not for later ones', async () => {
  const { writer, file } = open();
  const progress = { flushed: false };
  for (let n = 0; n < 10; n += 1) writer.record(rowOf(n));
  const done = writer.flush().then(() => {
    progress.flushed = true;
  });
  for (let n = 10; !progress.flushed && n < 100_000; n += 1) {
    writer.record(rowOf(n));
    if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(progress.flushed);
  await done;
  assert.ok((await stored(file)).length >= 10);
  await writer.close();
});

test('an open writer does not keep a process alive, but a flush in progress does', () => {
  const script = `
    const { ThreadedWriter } = await import(${JSON.stringify(new URL('./threaded-writer.js', import.meta.url).href)});
    const { ledgerRow } = await import(${JSON.stringify(new URL('../row.js', import.meta.url).href)});
    const { systemClock } = await import(${JSON.stringify(new URL('../../../engine/index.js', import.meta.url).href)});
    const writer = new ThreadedWriter({
      db: ${JSON.stringify(at('monitor.db'))}, clock: systemClock, onProblem: console.error,
    });
    await writer.ready();
    writer.record(ledgerRow({ id: 'a', startedMs: 1, endpoint: '/', outcome: 'ok' }));
    await writer.flush();
    console.log(String(writer.stats().written));
  `;
  const args = ['--input-type=module', '-e', script];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal([status, stdout], [0, '1\n']);
});

test('a row becomes readable by another connection without a flush', async () => {
  const { writer, file } = open();
  await writer.ready();
  writer.record(rowOf(1));
  await until('the row', async () => (await stored(file)).length === 1);
  await writer.close();
});

test('files get mode 0600 and folders 0700 under any umask, including companion files', async () => {
  const umask = process.umask(0);
  try {
    const { writer, file } = open();
    writer.record(rowOf(1));
    await writer.flush();
    assert.is(statSync(path.dirname(file)).mode & 0o777, 0o700);
    for (const suffix of ['', '-wal', '-shm']) {
      assert.is(statSync(file + suffix).mode & 0o777, 0o600, suffix);
    }
    await writer.close();
    chmodSync(file, 0o644);
    const again = open({ file });
    await again.writer.ready();
    assert.is(statSync(file).mode & 0o777, 0o600);
    await again.writer.close();
  } finally {
    process.umask(umask);
  }
});

test('reading a missing ledger fails with a message', () => {
  assert.throws(() => openLedgerReader(at('none.db')), /no ledger/);
});

test.run();
