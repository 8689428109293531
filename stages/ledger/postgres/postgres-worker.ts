/** The thread that writes a ledger in Postgres, on a new connection if the old one broke. */
import { serveJobs } from '../../threads/serve.ts';
import type { JobPort } from '../../threads/serve.ts';
import type { PostgresSetup, WriterEvent, WriterProtocol } from '../writer/writer-messages.ts';
import type { LedgerStore, WritingPlace } from '../writer/writing-thread.ts';
import { WritingThread } from '../writer/writing-thread.ts';
import { openPostgres, SchemaChanged } from './store.ts';
import { describeError, isOfConnection } from './query-errors.ts';

class LedgerDatabase implements WritingPlace {
  readonly #port: JobPort<WriterProtocol>;
  readonly #setup: PostgresSetup;
  readonly #goOn: () => void;
  #store: LedgerStore | undefined;

  constructor(setup: PostgresSetup, port: JobPort<WriterProtocol>, goOn: () => void) {
    this.#setup = setup;
    this.#port = port;
    this.#goOn = goOn;
  }

  async store(): Promise<LedgerStore> {
    if (this.#store === undefined) {
      const { url, migrations } = this.#setup;
      this.#store = await openPostgres(url, migrations, () => this.#onLost());
      this.#port.emit({ type: 'open', inode: undefined });
    }
    return this.#store;
  }

  onFailure(error: unknown): WriterEvent | undefined {
    if (isOfConnection(error)) this.close();
    if (error instanceof SchemaChanged) return undefined;
    return { type: 'problem', ...describeError(error, this.#setup.url) };
  }

  isBrief(): boolean {
    return false;
  }

  close(): void {
    this.#store?.close();
    this.#store = undefined;
  }

  /** Reconnects at once, so that a failure is noticed before the next row. */
  #onLost(): void {
    this.#store = undefined;
    this.#goOn();
  }
}

serveJobs<WriterProtocol, PostgresSetup>(
  (setup, port) => new WritingThread(port, (goOn) => new LedgerDatabase(setup, port, goOn)),
);
