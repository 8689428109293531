/** A pool of worker threads that each read a batch of files at a time. */
import { WorkerPool } from '../../threads/pool.ts';
import type { FileResult, FileTask } from './read-file.ts';

/** The specification's limit for indexing workers (section 8), and its default. */
export const MAX_WORKERS = 8;
export const DEFAULT_WORKERS = 4;

/** The heap of a worker; with WebAssembly memory, four workers stay below 300 MB. */
const WORKER_HEAP_MB = 96;

export interface ReadPoolSettings {
  /**
   * True splits code at its definitions; false splits it by its layout, which is about four times
   * faster.
   */
  readonly parseCode: boolean;
}

/** The concatenated records of a batch, and the result for each file, in order. */
export interface BatchReply {
  readonly bytes: Uint8Array;
  readonly files: readonly Pick<FileResult, 'outcome' | 'blocks'>[];
}

export type ReadPool = ReturnType<typeof createReadPool>;

/** Messages of the index's threads. */
export interface ReadProtocol {
  readonly job: readonly FileTask[];
  readonly result: BatchReply;
  readonly part: never;
  readonly event: never;
  readonly notice: never;
}

/** Creates a pool of at most `size` threads, started on demand. */
export function createReadPool(size: number, settings: ReadPoolSettings) {
  const pool = new WorkerPool<ReadProtocol>({
    entry: new URL('./index-worker.js', import.meta.url),
    name: 'svc-index',
    data: settings,
    size: Math.max(1, Math.min(size, MAX_WORKERS)),
    limits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: 8 },
  });
  return {
    /**
     * Reads a batch. A file that kills its worker is reported as unreadable; no file makes this
     * reject.
     */
    read: (tasks: readonly FileTask[]) => readOrSplit(tasks, pool),
    close: () => pool.close(),
  };
}

/**
 * Reads a batch; if its worker dies, reads each file separately, so that only the one at fault is
 * lost.
 */
async function readOrSplit(
  tasks: readonly FileTask[],
  pool: WorkerPool<ReadProtocol>,
): Promise<BatchReply> {
  const end = await pool.run(tasks);
  if ('done' in end) return end.done;
  if (tasks.length <= 1) {
    const files = tasks.map(() => ({ outcome: 'unreadable' as const, blocks: 0 }));
    return { bytes: new Uint8Array(), files };
  }
  const alone = await Promise.all(tasks.map((task) => readOrSplit([task], pool)));
  return {
    bytes: Buffer.concat(alone.map(({ bytes }) => bytes)),
    files: alone.flatMap(({ files }) => files),
  };
}
