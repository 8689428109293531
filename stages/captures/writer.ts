/**
 * The caller's side of the thread that writes captures. It takes a record and returns at once; the
 * queue is bounded in bytes, and when it is full the record is dropped, never its request.
 */
import { WorkerPool } from '../threads/pool.ts';
import { pruneCaptures } from './files.ts';
import type { CaptureLimits } from './files.ts';
import { memoryOf, packJob } from './parcel.ts';
import type { CaptureJob, Parcel } from './parcel.ts';
import { createSharedMemory } from './shared-memory.ts';

/** A job of the thread; its result is, for each record, the reason why it was not stored, or null. */
export interface CaptureProtocol {
  readonly job: readonly Parcel[];
  readonly result: readonly (string | null)[];
  readonly part: never;
  readonly event: never;
  readonly notice: never;
}

/** Where finished records are sent. */
export type CaptureWriter = ReturnType<typeof createCaptureWriter>;

/** A record that waits for the thread. */
interface Waiting {
  readonly parcel: Parcel;
  readonly sizeBytes: number;
  readonly release: () => void;
  readonly done: (reason: string | null) => void;
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Most records in a job: all of them are lost if the thread dies. */
const MAX_RECORDS = 16;
/** How long `close` waits at most for an unresponsive disk. */
const CLOSE_MS = 2000;

/** Creates a writer into `folder`; its thread starts with the first record. */
export function createCaptureWriter(folder: string, nowMs: () => number) {
  // One job at a time, so that records are in their file in the order in which their runs ended.
  const pool = new WorkerPool<CaptureProtocol>({
    entry: new URL('./capture-worker.js', import.meta.url),
    name: 'svc-captures',
    data: folder,
  });
  const memory = createSharedMemory();
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> | undefined;

  /** Sends the records that wait, some at a time: a job for each would take more than a record. */
  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_RECORDS);
      const end = await pool.run(batch.map(({ parcel }) => parcel));
      for (const [index, { sizeBytes, release, done }] of batch.entries()) {
        waitingBytes -= sizeBytes;
        release();
        done('done' in end ? end.done[index]! : 'the thread that writes captures has ended');
      }
    }
    writing = undefined;
  }

  async function flush(): Promise<void> {
    await writing;
  }

  return {
    /** True while a further record would be accepted. */
    get hasRoom(): boolean {
      return waitingBytes < MAX_WAITING_BYTES;
    },
    /** Takes a copy of a record. `done` is called with the result. */
    write(job: CaptureJob, done: (reason: string | null) => void): void {
      const lease = memory.lease();
      const parcel = packJob(job, lease.copy);
      const sizeBytes = memoryOf(parcel);
      if (waitingBytes > 0 && waitingBytes + sizeBytes > MAX_WAITING_BYTES) {
        lease.release();
        return done('too many captures are waiting for the disk');
      }
      waitingBytes += sizeBytes;
      waiting.push({ parcel, sizeBytes, release: lease.release, done });
      writing ??= writeAll();
    },
    /** Deletes files beyond the limits. */
    prune(limits: CaptureLimits): void {
      pruneCaptures(folder, limits, nowMs());
    },
    /** Resolves when every accepted record is stored or refused. */
    flush,
    async close(): Promise<void> {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([flush(), late]);
      await pool.close();
      await flush();
    },
  };
}
