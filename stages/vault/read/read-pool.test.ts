import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FileTask } from './read-file.ts';
import { createReadPool } from './read-pool.ts';

/** Longer than a thread takes for a tiny file, so that its reply waits unread. */
const BUSY_MS = 100;

function stayBusy(): void {
  const endMs = performance.now() + BUSY_MS;
  while (performance.now() < endMs);
}

test('survives a reply that arrives while the pool is closing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-pool-'));
  try {
    writeFileSync(join(root, 'a.md'), 'zebra');
    const times = { mtimeMs: 0, ctimeMs: 0 };
    const task: FileTask = { root, path: 'a.md', size: 5, ...times, knownHash: undefined };
    const pool = createReadPool(1, { parseCode: false });
    assert.is((await pool.read([task])).files[0]?.outcome, 'indexed');
    const last = pool.read([task]);
    stayBusy();
    await pool.close();
    assert.is((await last).files.length, 1);
    assert.is((await pool.read([task])).files[0]?.outcome, 'unreadable');
  } finally {
    rmSync(root, { recursive: true });
  }
});

test.run();
