/**
 * The thread that owns the ledger file. Work is done in the order in which it
 * came; what the disk refuses is kept and tried again, so that a full disk or a
 * locked file delays rows but loses none that were accepted.
 */
import { serveJobs } from '../../threads/serve.ts';
import type { JobPort } from '../../threads/serve.ts';
import { LedgerRefused } from '../trouble.ts';
import type { LedgerStore } from './store.ts';
import { isBusy, isDamage, LedgerDamaged, openStore } from './store.ts';
import type { WriterProtocol, WriterSetup } from '../writer-messages.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;
/** A lock is everyday while two proxies share a file; it is trouble only when it lasts. */
const QUIET_BUSY_TRIES = 3;

type Stored = WriterProtocol['result'];

interface Task {
  readonly job: WriterProtocol['job'];
  readonly resolve: (stored: Stored) => void;
}

class WriterThread {
  readonly #port: JobPort<WriterProtocol>;
  readonly #setup: WriterSetup;
  readonly #queue: Task[] = [];
  #store: LedgerStore | undefined;
  #failures = 0;
  /** True while a timer will go on with the queue. */
  #paused = false;
  /** True once the last batch has come: then everything is tried once more, and not again. */
  #lastTry = false;
  #timer: NodeJS.Timeout | undefined;

  /** Opens the file. */
  constructor(setup: WriterSetup, port: JobPort<WriterProtocol>) {
    this.#setup = setup;
    this.#port = port;
    this.#work();
  }

  /** Resolves when the file has taken it. */
  run(job: WriterProtocol['job']): Promise<Stored> {
    return new Promise((resolve) => {
      this.#queue.push({ job, resolve });
      if (!this.#paused || this.#lastTry) this.#work();
    });
  }

  close(): void {
    this.#lastTry = true;
    this.#work();
  }

  #work(): void {
    try {
      this.#openStore();
      while ((!this.#paused || this.#lastTry) && this.#queue[0] !== undefined) {
        const { job, resolve } = this.#queue[0];
        resolve(perform(this.#openStore(), job));
        this.#queue.shift();
        this.#failures = 0;
      }
      if (this.#lastTry) this.#end();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #openStore(): LedgerStore {
    if (this.#store !== undefined && !this.#store.isInPlace()) {
      this.#store.close();
      this.#store = undefined;
    }
    if (this.#store === undefined) {
      this.#store = openStore(this.#setup, Date.now());
      this.#port.emit({ type: 'open', inode: this.#store.inode });
    }
    return this.#store;
  }

  #onFailure(error: unknown): void {
    if (error instanceof LedgerRefused) {
      this.#port.emit({ type: 'refused', message: error.message, cure: error.cure });
      this.#end();
      return;
    }
    this.#failures += 1;
    try {
      if (error instanceof LedgerDamaged) this.#emitReplaced(error.aside, error);
      else if (isDamage(error)) this.#replace(error as Error);
      else if (!isBusy(error) || this.#failures > QUIET_BUSY_TRIES) this.#emitTrouble(error);
    } catch (second) {
      this.#emitTrouble(second);
    }
    if (this.#lastTry && !isBusy(error)) this.#end();
    else this.#pauseMs(Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS));
  }

  #replace(error: Error): void {
    const aside = this.#store?.putAside(Date.now());
    this.#store = undefined;
    this.#emitReplaced(aside, error);
  }

  #end(): void {
    this.#store?.close();
    this.#store = undefined;
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#port.end();
  }

  #pauseMs(delayMs: number): void {
    this.#paused = true;
    this.#timer = setTimeout(() => {
      this.#paused = false;
      this.#work();
    }, delayMs);
  }

  #emitReplaced(aside: string | undefined, error: Error): void {
    if (aside !== undefined) this.#port.emit({ type: 'replaced', aside, message: error.message });
  }

  #emitTrouble(error: unknown): void {
    const { message, code } = error as Error & { readonly code?: string };
    this.#port.emit({
      type: 'trouble',
      message: code === undefined ? message : `${message} (${code})`,
    });
  }
}

function perform(store: LedgerStore, job: WriterProtocol['job']): Stored {
  if (!('pruneBeforeMs' in job)) return { ...store.insert(job), deleted: 0 };
  const deleted = store.prune(job.pruneBeforeMs, job.most);
  return { rejected: 0, reason: undefined, deleted };
}

serveJobs<WriterProtocol, WriterSetup>((setup, port) => new WriterThread(setup, port));
