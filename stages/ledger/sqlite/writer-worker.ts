/** The thread that owns the ledger's file. */
import { serveJobs } from '../../threads/serve.ts';
import type { JobPort } from '../../threads/serve.ts';
import type { WriterEvent, WriterProtocol, WriterSetup } from '../writer/writer-messages.ts';
import { WritingThread } from '../writer/writing-thread.ts';
import type { WritingPlace } from '../writer/writing-thread.ts';
import { isBusy, isDamage, LedgerDamaged, openStore } from './store.ts';
import type { FileStore } from './store.ts';

/** A lock is normal while two proxies share a file; it is only a problem if it lasts. */
const QUIET_BUSY_ATTEMPTS = 3;

class LedgerFile implements WritingPlace {
  readonly #port: JobPort<WriterProtocol>;
  readonly #setup: WriterSetup;
  #store: FileStore | undefined;

  constructor(setup: WriterSetup, port: JobPort<WriterProtocol>) {
    this.#setup = setup;
    this.#port = port;
  }

  store(): FileStore {
    if (this.#store?.isInPlace() === false) this.close();
    if (this.#store === undefined) {
      this.#store = openStore(this.#setup, Date.now());
      this.#port.emit({ type: 'open', inode: this.#store.inode });
    }
    return this.#store;
  }

  onFailure(error: unknown, failures: number): WriterEvent | undefined {
    try {
      if (error instanceof LedgerDamaged) return replaced(error.aside, error);
      if (isDamage(error)) return replaced(this.#putAside(), error as Error);
    } catch (second) {
      return problemEvent(second);
    }
    return isBusy(error) && failures <= QUIET_BUSY_ATTEMPTS ? undefined : problemEvent(error);
  }

  isBrief(error: unknown): boolean {
    return isBusy(error);
  }

  close(): void {
    this.#store?.close();
    this.#store = undefined;
  }

  #putAside(): string | undefined {
    const store = this.#store;
    // Closed even if the file cannot be moved: nothing more could be stored in it.
    this.#store = undefined;
    return store?.moveAside(Date.now());
  }
}

/** Undefined if another process moved it aside. */
function replaced(aside: string | undefined, { message }: Error): WriterEvent | undefined {
  return aside === undefined ? undefined : { type: 'replaced', aside, message };
}

function problemEvent(error: unknown): WriterEvent {
  const { message, code } = error as NodeJS.ErrnoException;
  return { type: 'problem', message: code === undefined ? message : `${message} (${code})` };
}

serveJobs<WriterProtocol, WriterSetup>(
  (setup, port) => new WritingThread(port, () => new LedgerFile(setup, port)),
);
