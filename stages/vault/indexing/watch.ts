/** Keeps a vault in sync with a folder: changes are collected briefly and indexed together. */
import { relative, resolve, sep } from 'node:path';
import { watch as watchPaths, type FSWatcher } from 'chokidar';
import { toSvcError, type SvcError } from '../../../engine/error.ts';
import { inodeOf } from '../../private-file.ts';
import { untilAborted } from '../aborted.ts';
import { createIgnoreRules, type IgnoreRules } from '../read/ignore-rules.ts';
import { indexFolder } from './indexer.ts';
import type { IndexOptions, IndexReport } from './index-run.ts';
import { createReadPool, type ReadPool } from '../read/read-pool.ts';

/** Debounce time, longer than the several steps in which editors write a file. */
export const QUIET_MS = 80;
/** Changes that arrive without a pause are indexed at least this often. */
const MAX_WAIT_MS = 400;
/** How often the folder's identity is checked, which no event reports. */
export const POLL_MS = 1_000;

export interface WatchOptions extends Omit<IndexOptions, 'only' | 'pool' | 'onProgress'> {
  /**
   * Called after each run caused by a change, and after the first, which covers the whole folder.
   */
  readonly onIndexed?: (report: IndexReport) => void;
  /** Called when a run or the watching itself failed; watching continues where possible. */
  readonly onError?: (error: SvcError) => void;
}

/** Indexes `root` and then its changes, until closed. Resolves when the first run has ended. */
export async function watchFolder(options: WatchOptions): Promise<Watch> {
  const watch = new Watch(options);
  await watch.begin();
  return watch;
}

export class Watch {
  readonly #options: WatchOptions;
  readonly #root: string;
  readonly #rules: IgnoreRules;
  readonly #stop = new AbortController();
  readonly #stopped = untilAborted(this.#stop.signal).aborted;
  readonly #pool: ReadPool;
  readonly #changed = new Set<string>();
  #watcher: FSWatcher | undefined;
  #running: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #inode: bigint | undefined;
  #firstMs = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#root = resolve(options.root);
    this.#rules = createIgnoreRules(this.#root, [resolve(options.indexDir)]);
    this.#pool = createReadPool(1, { parseCode: options.parseCode ?? true });
    options.signal?.addEventListener('abort', () => this.#stop.abort(), { once: true });
  }

  async begin(): Promise<void> {
    this.#enqueue(() => this.#watchAll());
    this.#lookAgain();
    await this.#running;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancelTimer?.();
    this.#cancelLook?.();
    await this.#running;
    await this.#watcher?.close();
    await this.#pool.close();
  }

  /** Watches everything the rules include, then indexes it, so no change falls in between. */
  async #watchAll(): Promise<void> {
    await this.#watcher?.close();
    if (this.#stop.signal.aborted) return;
    this.#rules.forget();
    this.#inode = this.#inodeNow();
    const watcher = watchPaths(this.#root, {
      ignoreInitial: true,
      followSymlinks: false,
      ignored: (path, stats) => this.#isIgnored(path, stats?.isDirectory() ?? false),
    });
    this.#watcher = watcher;
    watcher.on('all', (_event, path) => this.#note(path));
    watcher.on('error', (error) => this.#fail(error));
    const ready = new Promise<void>((done) => void watcher.once('ready', done));
    await Promise.race([ready, this.#stopped]);
    await this.#run(undefined);
  }

  /**
   * Checks the folder periodically: a watcher follows the original folder, so a replacement is
   * detected by its inode.
   */
  #lookAgain(): void {
    this.#cancelLook = this.#options.clock.after(POLL_MS, () => {
      const inode = this.#inodeNow();
      const isAnother = inode !== undefined && inode !== this.#inode;
      if (isAnother) this.#enqueue(() => this.#watchAll());
      // A folder that disappeared is no longer watched, and its replacement may reuse the inode.
      else this.#inode = inode;
      void this.#running.then(() => {
        if (!this.#stop.signal.aborted) this.#lookAgain();
      });
    });
  }

  /**
   * Returns the inode; undefined while the folder is missing or inaccessible: an unmounted share,
   * no permission.
   */
  #inodeNow(): bigint | undefined {
    try {
      return inodeOf(this.#root);
    } catch {
      return undefined;
    }
  }

  #isIgnored(path: string, isDir: boolean): boolean {
    const local = this.#local(path);
    return local !== '' && this.#rules.judge(local, isDir) !== undefined;
  }

  #note(path: string): void {
    // Events arrive until the watcher is closed, which happens after the current run.
    if (this.#stop.signal.aborted) return;
    const local = this.#local(path);
    if (local === '' || local.startsWith('../')) return;
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#changed.size === 0) this.#firstMs = nowMs;
    this.#changed.add(local);
    this.#cancelTimer?.();
    const leftMs = MAX_WAIT_MS - (nowMs - this.#firstMs);
    const waitMs = Math.max(0, Math.min(QUIET_MS, leftMs));
    this.#cancelTimer = clock.after(waitMs, () => this.#flush());
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#stop.signal.aborted || this.#changed.size === 0) return;
    const paths = [...this.#changed];
    this.#changed.clear();
    const rulesChanged = paths.some((path) => path.endsWith('.gitignore'));
    // Previously ignored paths are not watched, and newly ignored ones need not be.
    this.#enqueue(() => (rulesChanged ? this.#watchAll() : this.#run(paths)));
  }

  /** Runs steps one after the other; none of them rejects. */
  #enqueue(step: () => Promise<void>): void {
    this.#running = this.#running.then(step);
  }

  /** Indexes the given paths, or the whole folder. */
  async #run(only: readonly string[] | undefined): Promise<void> {
    const { onIndexed, onError: _onError, ...indexing } = this.#options;
    // A run over the whole folder may be long and gets its own threads; a change needs one thread.
    const extra = only === undefined ? {} : { only, pool: this.#pool };
    try {
      const report = await indexFolder({ ...indexing, ...extra, signal: this.#stop.signal });
      onIndexed?.(report);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#options.onError?.(toSvcError(error));
  }

  #local(path: string): string {
    return relative(this.#root, path).split(sep).join('/');
  }
}
