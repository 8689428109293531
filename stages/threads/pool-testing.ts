/** A thread for the pool's tests that does what a job says. */
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { SvcError } from '../../engine/index.ts';
import { serveJobs } from './serve.ts';

export interface TestProtocol {
  readonly job: {
    readonly name: string;
    readonly takesMs?: number;
    readonly parts?: readonly string[];
    readonly fault?: 'throw' | 'die';
    /** Makes the result name the thread that did the job. */
    readonly asksWho?: true;
  };
  /** The job's name and the thread's notice, or the thread that did it. */
  readonly result: string;
  readonly part: string;
  readonly event: string;
  readonly notice: string;
}

serveJobs<TestProtocol, { readonly greeting: string }>(({ greeting }, port) => {
  let prepared = '';
  let isClosed = false;
  let running = 0;
  port.emit(greeting);
  return {
    async prepare(notice) {
      prepared = `:${notice}`;
      if (notice === 'slow') await sleep(60_000);
    },
    close() {
      isClosed = true;
      if (running === 0) port.end();
    },
    async run({ name, takesMs = 0, parts = [], fault, asksWho }, report) {
      for (const part of parts) report(part);
      running += 1;
      await sleep(takesMs);
      running -= 1;
      if (isClosed && running === 0) port.end();
      if (fault === 'throw') throw new SvcError('config', name, { code: 'X_1', cure: 'none' });
      if (fault === 'die') {
        setImmediate(() => {
          throw new Error(`${name} killed it`);
        });
        await sleep(60_000);
      }
      return asksWho === true ? `thread ${threadId}` : name + prepared;
    },
  };
});
