/**
 * A writer thread for a test: the first time, it stores its first batch and dies before it can
 * report so; afterwards it is the real one.
 */
import { existsSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { serveJobs } from '../../threads/serve.ts';
import { openStore } from '../sqlite/store.ts';
import type { WriterProtocol, WriterSetup } from './writer-messages.ts';

if (existsSync((workerData as WriterSetup).file)) {
  await import('../sqlite/writer-worker.ts');
} else {
  serveJobs<WriterProtocol, WriterSetup>((setup) => ({
    run(job) {
      if (!('pruneBeforeMs' in job)) openStore(setup, 0).insert(job);
      setImmediate(() => {
        throw new Error('killed by the test');
      });
      return new Promise(() => undefined);
    },
  }));
}
