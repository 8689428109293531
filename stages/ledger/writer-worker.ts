/**
 * The thread that owns the ledger file. Work is done in the order in which it
 * came; what the disk refuses is kept and tried again, so that a full disk or a
 * locked file delays rows but loses none that were accepted.
 */
import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import { LedgerRefused } from './file.ts';
import type { LedgerStore } from './store.ts';
import { isBusy, isDamage, LedgerDamaged, openStore } from './store.ts';
import type { FromWriter, ToWriter, WriterSetup } from './writer-messages.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;
/** A lock is everyday while two proxies share a file; it is trouble only when it lasts. */
const QUIET_BUSY_TRIES = 3;

class WriterThread {
  readonly #port: MessagePort;
  readonly #setup: WriterSetup;
  readonly #queue: ToWriter[] = [];
  #store: LedgerStore | undefined;
  #failures = 0;
  /** True while a timer will go on with the queue. */
  #paused = false;
  /** True once `close` has been asked for: then everything is tried once more, and not again. */
  #lastTry = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(port: MessagePort, setup: WriterSetup) {
    this.#port = port;
    this.#setup = setup;
  }

  /** Opens the file and serves the port until it is asked to close. */
  start(): void {
    this.#port.on('message', (message: ToWriter) => {
      this.#queue.push(message);
      this.#lastTry ||= message.type === 'close';
      if (!this.#paused || this.#lastTry) this.#work();
    });
    this.#work();
  }

  #work(): void {
    try {
      this.#openStore();
      while ((!this.#paused || this.#lastTry) && this.#queue[0] !== undefined) {
        this.#do(this.#queue[0]);
        this.#queue.shift();
        this.#failures = 0;
      }
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #do(message: ToWriter): void {
    switch (message.type) {
      case 'rows':
        this.#say({
          type: 'written',
          seq: message.seq,
          ...this.#openStore().insert(message.cells),
        });
        break;
      case 'close':
        this.#end();
    }
  }

  #openStore(): LedgerStore {
    if (this.#store !== undefined && !this.#store.isInPlace()) {
      this.#store.close();
      this.#store = undefined;
    }
    if (this.#store === undefined) {
      this.#store = openStore(this.#setup, Date.now());
      this.#say({ type: 'open', inode: this.#store.inode });
    }
    return this.#store;
  }

  #onFailure(error: unknown): void {
    if (error instanceof LedgerRefused) {
      this.#say({ type: 'refused', message: error.message, cure: error.cure });
      this.#end();
      return;
    }
    this.#failures += 1;
    try {
      if (error instanceof LedgerDamaged) this.#sayReplaced(error.aside, error);
      else if (isDamage(error)) this.#replace(error as Error);
      else if (!isBusy(error) || this.#failures > QUIET_BUSY_TRIES) this.#sayTrouble(error);
    } catch (second) {
      this.#sayTrouble(second);
    }
    if (this.#lastTry && !isBusy(error)) this.#end();
    else this.#pauseMs(Math.min(FIRST_RETRY_MS * 2 ** (this.#failures - 1), LONGEST_RETRY_MS));
  }

  #replace(error: Error): void {
    const aside = this.#store?.putAside(Date.now());
    this.#store = undefined;
    this.#sayReplaced(aside, error);
  }

  #end(): void {
    this.#store?.close();
    this.#store = undefined;
    clearTimeout(this.#timer);
    this.#queue.length = 0;
    this.#port.close();
  }

  #pauseMs(delayMs: number): void {
    this.#paused = true;
    this.#timer = setTimeout(() => {
      this.#paused = false;
      this.#work();
    }, delayMs);
  }

  #sayReplaced(aside: string | undefined, error: Error): void {
    if (aside !== undefined) this.#say({ type: 'replaced', aside, message: error.message });
  }

  #sayTrouble(error: unknown): void {
    const { message, code } = error as Error & { readonly code?: string };
    this.#say({ type: 'trouble', message: code === undefined ? message : `${message} (${code})` });
  }

  #say(message: FromWriter): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a MessagePort has none
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) {
  new WriterThread(parentPort, workerData as WriterSetup).start();
}
