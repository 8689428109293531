/** Keeping a vault in step with a folder: changes are collected for a moment and indexed together. */
import { relative, resolve, sep } from 'node:path';
import { watch as watchPaths, type FSWatcher } from 'chokidar';
import { toSvcError, type SvcError } from '../../../engine/error.ts';
import { inodeOf } from '../../private-file.ts';
import { untilAborted } from '../aborted.ts';
import { createIgnoreRules, type IgnoreRules } from '../read/ignore-rules.ts';
import { indexFolder } from './indexer.ts';
import type { IndexOptions, IndexReport } from './index-run.ts';
import { createReadPool, type ReadPool } from '../read/read-pool.ts';

/** Editors write a file in several steps; this is longer than they take. */
export const QUIET_MS = 80;
/** Something that never pauses is indexed this often all the same. */
const LONGEST_WAIT_MS = 400;
/** How often the folder is checked to be still the same one: no event reports that. */
export const LOOK_MS = 1_000;

export interface WatchOptions extends Omit<IndexOptions, 'only' | 'pool' | 'onProgress'> {
  /** Called after each run that a change caused, and after the first, which covers all of the folder. */
  readonly onIndexed?: (report: IndexReport) => void;
  /** A run or the watching itself failed; watching goes on where it can. */
  readonly onError?: (error: SvcError) => void;
}

/** Indexes `root` and then, until closed, whatever changes in it. Resolves when the first run has ended. */
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

  /** Watches all that the rules leave, and then reads it: so no change falls between the two. */
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
    const begun = new Promise<void>((done) => void watcher.once('ready', done));
    await Promise.race([begun, this.#stopped]);
    await this.#run(undefined);
  }

  /** A watcher holds on to the folder itself; another one that takes its name is recognised by its inode. */
  #lookAgain(): void {
    this.#cancelLook = this.#options.clock.after(LOOK_MS, () => {
      const inode = this.#inodeNow();
      const isAnother = inode !== undefined && inode !== this.#inode;
      if (isAnother) this.#enqueue(() => this.#watchAll());
      // One that was away is watched no more, and a new one may get its number.
      else this.#inode = inode;
      void this.#running.then(() => {
        if (!this.#stop.signal.aborted) this.#lookAgain();
      });
    });
  }

  /** Undefined while there is no folder, and while it cannot be seen: a share that is not there, no permission. */
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
    // Events come until the watcher is closed, which is after the run that is under way.
    if (this.#stop.signal.aborted) return;
    const local = this.#local(path);
    if (local === '' || local.startsWith('../')) return;
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#changed.size === 0) this.#firstMs = nowMs;
    this.#changed.add(local);
    this.#cancelTimer?.();
    const leftMs = LONGEST_WAIT_MS - (nowMs - this.#firstMs);
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
    // What was ignored is not watched, and what is ignored now need not be.
    this.#enqueue(() => (rulesChanged ? this.#watchAll() : this.#run(paths)));
  }

  /** One step after the other; none of them rejects. */
  #enqueue(step: () => Promise<void>): void {
    this.#running = this.#running.then(step);
  }

  /** Indexes what is named, or all of the folder. */
  async #run(only: readonly string[] | undefined): Promise<void> {
    const { onIndexed, onError: _onError, ...indexing } = this.#options;
    // A run over the whole folder may be long and gets its own threads; a change is one thread's work.
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
