/** A process killed while writing leaves a chain that verifies and can be continued. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { appendEvents } from './append.ts';
import { auditFiles } from './files.ts';
import { withAuditLock } from './log.ts';
import { verifyAudit } from './verify.ts';

const CHILD = fileURLToPath(new URL('kill-testing.js', import.meta.url));

/** Kills a writer `afterMs` after its first batch; returns the number of records it had flushed. */
async function killWriter(home: string, afterMs: number): Promise<number> {
  const child = spawn(process.execPath, [CHILD, home], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  let timer: NodeJS.Timeout | undefined;
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  child.stdout.on('data', (piece: Buffer) => {
    output += piece.toString();
    timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs);
  });
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  assert.is(errors, '');
  const counts = output.split('\n').slice(0, -1).map(Number);
  return counts.at(-1) ?? 0;
}

test('keeps every flushed record, and a valid chain, when the writer is killed with SIGKILL', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-audit-kill-'));
  const files = auditFiles(home);
  try {
    let min = 0;
    for (let round = 0; round < 12; round += 1) {
      min += await killWriter(home, round * 7);
      const { fault, records } = await verifyAudit(files);
      assert.is(fault, undefined, `round ${round}: ${fault?.text}`);
      assert.ok(records >= min, `round ${round}: ${records} of ${min}`);
    }
    const event = { atMs: 0, kind: 'proxy', event: 'started', details: {} } as const;
    await withAuditLock(files, () => appendEvents(files, [event]));
    const { fault, hasTornTail, anchoredSeq, lastSeq } = await verifyAudit(files);
    assert.equal([fault, hasTornTail, anchoredSeq], [undefined, false, lastSeq]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test.run();
