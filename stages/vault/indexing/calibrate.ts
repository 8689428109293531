/** The best number of indexing workers for this machine: measured once, stored beside the index. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Clock } from '../../../engine/clock.ts';
import { SvcError } from '../../../engine/error.ts';
import { makePrivateDir, replaceFile } from '../../private-file.ts';
import { createIgnoreRules } from '../read/ignore-rules.ts';
import { layoutOf } from '../log/layout.ts';
import { createReadPool, MAX_WORKERS } from '../read/read-pool.ts';
import type { FileTask } from '../read/read-file.ts';
import { walk } from '../read/walk.ts';
import { assertReadable } from './indexer.ts';

/** Files read in each trial. */
const SAMPLE_FILES = 300;
const BATCH_FILES = 16;
/** More threads must bring at least this speed-up, since each takes memory. */
const MIN_SPEED_UP = 1.05;

/** A calibration result. */
export interface Calibration {
  readonly workers: number;
  readonly trials: readonly { readonly workers: number; readonly filesPerSecond: number }[];
  /** Wall time, and the number of processors: with another number the result is invalid. */
  readonly atMs: number;
  readonly processors: number;
}

export interface CalibrateOptions {
  readonly root: string;
  readonly indexDir: string;
  readonly clock: Clock;
  /** Upper limit; never more than 8. */
  readonly maxWorkers?: number;
  readonly signal?: AbortSignal;
  readonly onTrial?: (trial: Calibration['trials'][number]) => void;
}

/**
 * Reads a sample of `root` with 1, 2, 4 and 8 workers, stores the result and returns it. Adds
 * nothing to the index. Throws `unprocessable` for a folder without a readable file.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibration> {
  const { clock, maxWorkers = MAX_WORKERS, signal } = options;
  const sample = await sampleOf(options);
  const trials: { workers: number; filesPerSecond: number }[] = [];
  const limit = Math.max(1, Math.min(maxWorkers, MAX_WORKERS));
  const sizes = [1, 2, 4, 8].filter((size) => size <= limit);
  for (const workers of sizes) {
    if (signal?.aborted === true) throw new SvcError('cancelled', 'Calibration was stopped');
    const trial = { workers, filesPerSecond: await measure(sample, workers, clock) };
    trials.push(trial);
    options.onTrial?.(trial);
  }
  const best = trials.reduce((a, b) =>
    b.filesPerSecond > a.filesPerSecond * MIN_SPEED_UP ? b : a,
  );
  const found = {
    workers: best.workers,
    trials,
    atMs: clock.wallMs(),
    processors: availableParallelism(),
  };
  const indexDir = resolve(options.indexDir);
  makePrivateDir(indexDir);
  await replaceFile(layoutOf(indexDir).calibration, (draft) =>
    draft.writeFile(`${JSON.stringify(found, undefined, 2)}\n`),
  );
  return found;
}

/** Returns the last result, if measured with the current number of processors. */
export function readCalibration(indexDir: string): Calibration | undefined {
  try {
    const path = layoutOf(resolve(indexDir)).calibration;
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Calibration;
    const usable = stored.workers >= 1 && stored.workers <= MAX_WORKERS;
    return usable && stored.processors === availableParallelism() ? stored : undefined;
  } catch {
    return undefined;
  }
}

async function sampleOf({ root, indexDir, signal }: CalibrateOptions): Promise<FileTask[]> {
  const from = resolve(root);
  assertReadable(from);
  const tasks: FileTask[] = [];
  const rules = createIgnoreRules(from, [resolve(indexDir)]);
  await walk(
    from,
    rules,
    (file) => void tasks.push({ ...file, root: from, knownHash: undefined }),
    signal === undefined ? {} : { signal },
  );
  if (tasks.length === 0) {
    throw new SvcError('unprocessable', `There is nothing to index in ${from}`);
  }
  // Evenly over the whole folder, as neighbours are similar.
  const step = Math.max(1, tasks.length / SAMPLE_FILES);
  const count = Math.min(tasks.length, SAMPLE_FILES);
  return Array.from({ length: count }, (_, index) => tasks[Math.floor(index * step)]!);
}

async function measure(
  sample: readonly FileTask[],
  workers: number,
  clock: Clock,
): Promise<number> {
  const pool = createReadPool(workers, { parseCode: true });
  try {
    // Warms up: thread start and grammar loading do not matter in a long run.
    await Promise.all(
      Array.from({ length: workers }, () => pool.read(sample.slice(0, BATCH_FILES))),
    );
    const startMs = clock.monotonicMs();
    const batches: Promise<unknown>[] = [];
    for (let at = 0; at < sample.length; at += BATCH_FILES) {
      batches.push(pool.read(sample.slice(at, at + BATCH_FILES)));
    }
    await Promise.all(batches);
    return (sample.length / Math.max(1, clock.monotonicMs() - startMs)) * 1000;
  } finally {
    await pool.close();
  }
}
