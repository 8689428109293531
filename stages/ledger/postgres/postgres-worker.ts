/**
 * The thread that writes a ledger in Postgres. Work is done in the order in which it came; what
 * the server does not take is kept and tried again, on a new connection where the old one broke.
 */
import { LedgerRefused } from '../trouble.ts';
import { serveJobs } from '../../threads/serve.ts';
import type { JobPort } from '../../threads/serve.ts';
import type { PostgresSetup, WriterProtocol } from '../writer-messages.ts';
import { openPostgres, SchemaChanged } from './store.ts';
import type { PostgresStore } from './store.ts';
import { inWords, isOfConnection } from './trouble.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

type Stored = WriterProtocol['result'];

interface Task {
  readonly job: WriterProtocol['job'];
  readonly resolve: (stored: Stored) => void;
}

class PostgresThread {
  readonly #port: JobPort<WriterProtocol>;
  readonly #setup: PostgresSetup;
  readonly #queue: Task[] = [];
  #store: PostgresStore | undefined;
  #failures = 0;
  #isWorking = false;
  /** True while a timer will go on with the queue. */
  #isPaused = false;
  /** True once the last batch has come: then everything is tried once more, and not again. */
  #lastTry = false;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  /** Connects. */
  constructor(setup: PostgresSetup, port: JobPort<WriterProtocol>) {
    this.#setup = setup;
    this.#port = port;
    void this.#work();
  }

  /** Resolves when the database has taken it. */
  run(job: WriterProtocol['job']): Promise<Stored> {
    return new Promise((resolve) => {
      this.#queue.push({ job, resolve });
      void this.#work();
    });
  }

  close(): void {
    this.#lastTry = true;
    void this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    if (this.#isWorking || this.#hasEnded || (this.#isPaused && !this.#lastTry)) return;
    this.#isWorking = true;
    try {
      await this.#openStore();
      while (this.#queue[0] !== undefined) {
        const { job, resolve } = this.#queue[0];
        resolve(await perform(await this.#openStore(), job));
        this.#queue.shift();
        this.#failures = 0;
      }
      this.#isWorking = false;
      if (this.#lastTry) this.#end();
    } catch (error) {
      this.#isWorking = false;
      this.#onFailure(error);
    }
  }

  async #openStore(): Promise<PostgresStore> {
    if (this.#store === undefined) {
      const { url, migrations } = this.#setup;
      this.#store = await openPostgres(url, migrations, () => this.#onLost());
      this.#port.emit({ type: 'open', inode: undefined });
    }
    return this.#store;
  }

  /** Connects again at once, so that it is known when that cannot be done, and not only by the next row. */
  #onLost(): void {
    this.#store = undefined;
    void this.#work();
  }

  #onFailure(error: unknown): void {
    if (error instanceof LedgerRefused) {
      this.#port.emit({ type: 'refused', message: error.message, cure: error.cure });
      this.#end();
      return;
    }
    this.#failures += 1;
    if (isOfConnection(error)) {
      this.#store?.close();
      this.#store = undefined;
    }
    if (!(error instanceof SchemaChanged))
      this.#port.emit({ type: 'trouble', ...inWords(error, this.#setup.url) });
    if (this.#lastTry) this.#end();
    else this.#pauseMs(Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS));
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#store?.close();
    this.#store = undefined;
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#port.end();
  }

  #pauseMs(delayMs: number): void {
    this.#isPaused = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isPaused = false;
      void this.#work();
    }, delayMs);
  }
}

async function perform(store: PostgresStore, job: WriterProtocol['job']): Promise<Stored> {
  if (!('pruneBeforeMs' in job)) return { ...(await store.insert(job)), deleted: 0 };
  const deleted = await store.prune(job.pruneBeforeMs, job.most);
  return { rejected: 0, reason: undefined, deleted };
}

serveJobs<WriterProtocol, PostgresSetup>((setup, port) => new PostgresThread(setup, port));
