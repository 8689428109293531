/** Keeping a vault in step with a folder: changes are collected for a moment and indexed together. */
import { relative, resolve, sep } from 'node:path';
import { watch as watchPaths } from 'chokidar';
import { toSvcError, type SvcError } from '../../engine/error.ts';
import { createIgnoreRules } from './ignore-rules.ts';
import { indexFolder } from './indexer.ts';
import type { IndexOptions, IndexReport } from './index-run.ts';
import { createReadPool } from './read-pool.ts';

/** Editors write a file in several steps; this is longer than they take. */
const QUIET_MS = 80;
/** Something that never pauses is indexed this often all the same. */
const LONGEST_WAIT_MS = 400;

export interface WatchOptions extends Omit<IndexOptions, 'only' | 'pool' | 'onProgress'> {
  /** Called after each run that a change caused, and after the first, which covers all of the folder. */
  readonly onIndexed?: (report: IndexReport) => void;
  /** A run or the watching itself failed; watching goes on where it can. */
  readonly onError?: (error: SvcError) => void;
}

export interface Watch {
  /** Resolves when everything that has changed so far has been indexed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Indexes `root` and then, until closed, whatever changes in it. Resolves when watching has begun. */
export async function watchFolder(options: WatchOptions): Promise<Watch> {
  const root = resolve(options.root);
  const indexDir = resolve(options.indexDir);
  const rules = createIgnoreRules(root, [indexDir]);
  const stop = new AbortController();
  const pool = createReadPool(1, { parseCode: options.parseCode ?? true });
  const { onIndexed, onError, ...indexing } = options;
  const fail = (error: unknown): void => onError?.(toSvcError(error));
  const changed = new Set<string>();
  let running = Promise.resolve();
  let cancelTimer: (() => void) | undefined;
  let firstMs = 0;

  const run = async (only: readonly string[] | undefined): Promise<void> => {
    try {
      // The first run may be long and gets its own threads; a change is one thread's work.
      const extra = only === undefined ? {} : { only, pool };
      const report = await indexFolder({ ...indexing, ...extra, signal: stop.signal });
      onIndexed?.(report);
    } catch (error) {
      if (!stop.signal.aborted) fail(error);
    }
  };
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (changed.size === 0) return;
    const paths = [...changed];
    changed.clear();
    const rulesChanged = paths.some((path) => path.endsWith('.gitignore'));
    if (rulesChanged) rules.forget();
    running = running.then(() => run(rulesChanged ? undefined : paths));
  };
  const note = (path: string): void => {
    const local = relative(root, path).split(sep).join('/');
    if (local === '' || local.startsWith('../')) return;
    const nowMs = options.clock.monotonicMs();
    if (changed.size === 0) firstMs = nowMs;
    changed.add(local);
    cancelTimer?.();
    const leftMs = LONGEST_WAIT_MS - (nowMs - firstMs);
    cancelTimer = options.clock.after(Math.max(0, Math.min(QUIET_MS, leftMs)), flush);
  };

  const watcher = watchPaths(root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path, stats) => {
      const local = relative(root, path).split(sep).join('/');
      return local !== '' && rules.judge(local, stats?.isDirectory() ?? false) !== undefined;
    },
  });
  watcher.on('all', (_event, path) => note(path));
  watcher.on('error', fail);
  options.signal?.addEventListener('abort', () => stop.abort(), { once: true });
  await new Promise<void>((begun) => watcher.once('ready', begun));
  // After watching has begun, so that no change falls between the two.
  running = running.then(() => run(undefined));
  await running;
  return {
    async settled() {
      flush();
      await running;
    },
    async close() {
      stop.abort();
      cancelTimer?.();
      await watcher.close();
      await running;
      await pool.close();
    },
  };
}
