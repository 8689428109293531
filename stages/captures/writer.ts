/**
 * The near side of the thread that writes captures. It takes a record and returns at once; what
 * waits is bounded in bytes, and a record that finds no room is dropped, never its request.
 */
import { Worker } from 'node:worker_threads';
import { pruneCaptures } from './files.ts';
import type { CaptureLimits } from './files.ts';
import { sizeOfRecord } from './record.ts';
import type { CaptureRecord } from './record.ts';
import type { CaptureSecrets } from './scrub.ts';

/** What the thread gets at its start. */
export interface CaptureThreadData {
  readonly folder: string;
}

/** What the thread is asked for. */
export interface CaptureJob {
  readonly record: CaptureRecord;
  readonly secrets: CaptureSecrets;
  readonly limits: CaptureLimits;
}

/** What became of it; a reason for what was not kept. */
export interface CaptureResult {
  readonly id: string;
  readonly reason: string | null;
}

/** Where finished records go. */
export interface CaptureWriter {
  /** True while a record of some size would be taken. */
  readonly hasRoom: boolean;
  /** Takes a record, whose bytes are best in shared memory. `done` hears what became of it. */
  write(job: CaptureJob, done: (reason: string | null) => void): void;
  /** Deletes what the limits do not allow. */
  prune(limits: CaptureLimits): void;
  /** Resolves when all that was taken is on the disk or refused. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/** Longest that `close` waits for a disk that does not answer. */
const CLOSE_MS = 2000;

interface Waiting {
  readonly sizeBytes: number;
  readonly done: (reason: string | null) => void;
}

/** A writer into `folder`; its thread starts with the first record. */
export function createCaptureWriter(
  folder: string,
  nowMs: () => number,
  mostWaitingBytes = MOST_WAITING_BYTES,
): CaptureWriter {
  const waiting = new Map<string, Waiting>();
  let waitingBytes = 0;
  let worker: Worker | undefined;
  let isEmpty: (() => void)[] = [];

  function settle(id: string, reason: string | null): void {
    const found = waiting.get(id);
    if (found === undefined) return;
    waiting.delete(id);
    waitingBytes -= found.sizeBytes;
    found.done(reason);
    if (waiting.size > 0) return;
    worker?.unref();
    for (const resolve of isEmpty) resolve();
    isEmpty = [];
  }

  function start(): Worker {
    const data: CaptureThreadData = { folder };
    const started = new Worker(new URL('./capture-worker.js', import.meta.url), {
      workerData: data,
      name: 'svc-captures',
      execArgv: [],
    });
    started.on('message', ({ id, reason }: CaptureResult) => settle(id, reason));
    const gone = (): void => {
      if (worker === started) worker = undefined;
      for (const id of waiting.keys()) settle(id, 'the thread that writes captures has ended');
    };
    started.on('error', gone);
    started.on('exit', gone);
    return started;
  }

  async function flush(): Promise<void> {
    if (waiting.size > 0) await new Promise<void>((resolve) => isEmpty.push(resolve));
  }

  return {
    get hasRoom() {
      return waitingBytes < mostWaitingBytes;
    },
    write(job, done) {
      const { record } = job;
      const sizeBytes = sizeOfRecord(record);
      if (waiting.has(record.id)) return done('another record has its id');
      if (waitingBytes > 0 && waitingBytes + sizeBytes > mostWaitingBytes)
        return done('too many captures wait for the disk');
      waiting.set(record.id, { sizeBytes, done });
      waitingBytes += sizeBytes;
      worker ??= start();
      // Only a thread at work keeps the process alive.
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(job);
    },
    prune(limits) {
      pruneCaptures(folder, limits, nowMs());
    },
    flush,
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([flush(), late]);
      await worker?.terminate();
    },
  };
}
