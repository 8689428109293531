/** Worker threads that read files. One batch at a time goes to each; the rest wait in line. */
import { Worker } from 'node:worker_threads';
import type { FileResult, FileTask } from './read-file.ts';

/** The specification's cap for indexing workers (section 8), and its default. */
export const MAX_WORKERS = 8;
export const DEFAULT_WORKERS = 4;

/** A worker's heap; together with what WebAssembly takes, four stay below 300 MB. */
const WORKER_HEAP_MB = 96;

export interface ReadPoolSettings {
  /** Cut code at its definitions; otherwise by its layout, which is some four times faster. */
  readonly parseCode: boolean;
}

export interface BatchRequest {
  readonly tasks: readonly FileTask[];
}

/** The records of a batch, one after the other, and what became of each file, in order. */
export interface BatchReply {
  readonly bytes: Uint8Array;
  readonly files: readonly Pick<FileResult, 'outcome' | 'blocks'>[];
}

export interface ReadPool {
  /** Reads a batch. A file that kills its worker is reported as unreadable; this never rejects for a file's sake. */
  read(tasks: readonly FileTask[]): Promise<BatchReply>;
  close(): Promise<void>;
}

interface Job {
  readonly tasks: readonly FileTask[];
  readonly resolve: (reply: BatchReply | undefined) => void;
}

interface Seat {
  readonly worker: Worker;
  job: Job | undefined;
}

/** Starts no thread until there is work, and at most `size` of them. */
export function createReadPool(size: number, settings: ReadPoolSettings): ReadPool {
  const limit = Math.max(1, Math.min(size, MAX_WORKERS));
  const seats = new Set<Seat>();
  const queue: Job[] = [];
  let closed = false;
  const finish = (seat: Seat, reply: BatchReply | undefined): void => {
    const { job } = seat;
    seat.job = undefined;
    // One that is being ended is waited for, and nothing else may keep the process alive till then.
    if (!closed) seat.worker.unref();
    if (reply === undefined) seats.delete(seat);
    job?.resolve(reply);
    if (!closed) next();
  };
  const sit = (): Seat => {
    const seat: Seat = { worker: startWorker(settings), job: undefined };
    seat.worker.on('message', (reply: BatchReply) => finish(seat, reply));
    seat.worker.on('error', () => finish(seat, undefined));
    seat.worker.on('exit', () => finish(seat, undefined));
    seats.add(seat);
    return seat;
  };
  const next = (): void => {
    while (queue.length > 0) {
      const free = [...seats].find(({ job }) => job === undefined);
      const seat = free ?? (seats.size < limit ? sit() : undefined);
      if (seat === undefined) return;
      seat.job = queue.shift()!;
      // Only a thread at work keeps the process alive.
      seat.worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      seat.worker.postMessage({ tasks: seat.job.tasks } satisfies BatchRequest);
    }
  };
  const submit = (tasks: readonly FileTask[]): Promise<BatchReply | undefined> => {
    if (closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      queue.push({ tasks, resolve });
      next();
    });
  };
  return {
    read: (tasks) => readOrSplit(tasks, submit),
    async close() {
      closed = true;
      for (const job of queue.splice(0)) job.resolve(undefined);
      await Promise.all([...seats].map(({ worker }) => worker.terminate()));
    },
  };
}

/** Reads a batch; when its worker dies, each file alone, so that only the one at fault is lost. */
async function readOrSplit(
  tasks: readonly FileTask[],
  submit: (tasks: readonly FileTask[]) => Promise<BatchReply | undefined>,
): Promise<BatchReply> {
  const reply = await submit(tasks);
  if (reply !== undefined) return reply;
  if (tasks.length <= 1) {
    const files = tasks.map(() => ({ outcome: 'unreadable' as const, blocks: 0 }));
    return { bytes: new Uint8Array(), files };
  }
  const alone = await Promise.all(tasks.map((task) => readOrSplit([task], submit)));
  return {
    bytes: Buffer.concat(alone.map(({ bytes }) => bytes)),
    files: alone.flatMap(({ files }) => files),
  };
}

function startWorker(settings: ReadPoolSettings): Worker {
  return new Worker(new URL('./index-worker.js', import.meta.url), {
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: 8 },
  });
}
