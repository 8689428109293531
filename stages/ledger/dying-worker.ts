/**
 * A writer thread for a test: the first time it stores its first batch and dies
 * before it can say so; from then on it is the real one.
 */
import { existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { openStore } from './store.ts';
import type { ToWriter, WriterSetup } from './writer-messages.ts';

const setup = workerData as WriterSetup;
if (existsSync(setup.file)) {
  await import('./writer-worker.ts');
} else {
  parentPort?.on('message', (message: ToWriter) => {
    if (message.type !== 'rows') return;
    openStore(setup, 0).insert(message.cells);
    throw new Error('killed by the test');
  });
}
