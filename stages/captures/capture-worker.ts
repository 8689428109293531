/** A thread that writes captures: what takes its time, looking for secrets and the disk, holds up no stream. */
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../disk-reason.ts';
import { openAppender } from './append.ts';
import type { CaptureJob, CaptureResult, CaptureThreadData } from './writer.ts';

const { folder } = workerData as CaptureThreadData;
const appender = openAppender(folder, () => Date.now());
let last: Promise<void> = Promise.resolve();

async function write({ record, secrets, limits }: CaptureJob): Promise<void> {
  let reason: string | null = null;
  try {
    await appender.append(record, secrets, limits);
  } catch (thrown) {
    reason = reasonOf(thrown);
  }
  parentPort?.postMessage({ id: record.id, reason } satisfies CaptureResult);
}

parentPort?.on('message', (job: CaptureJob) => {
  last = last.then(() => write(job));
});
