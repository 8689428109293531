/** The thread that answers a server's questions to the ledger, so that a long query holds up no request. */
import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { isSvcError } from '../../engine/index.ts';
import { inodeOf } from '../private-file.ts';
import { openReadOnly } from './database.ts';
import type { FromReader, ToReader } from './reader-thread.ts';

class ReaderThread {
  readonly #port: MessagePort;
  readonly #file: string;
  #open: { readonly database: Database.Database; readonly inode: bigint | undefined } | undefined;

  constructor(port: MessagePort, file: string) {
    this.#port = port;
    this.#file = file;
  }

  /** Answers queries until the near side ends the thread. */
  start(): void {
    this.#port.on('message', (query: ToReader) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a MessagePort has none
      this.#port.postMessage(this.#answer(query));
    });
  }

  #answer({ seq, sql, parameters }: ToReader): FromReader {
    try {
      const rows = this.#database().prepare(sql).all(parameters);
      return { seq, rows };
    } catch (error) {
      const { message } = error as Error;
      if (!isSvcError(error)) return { seq, failure: { kind: 'internal', message } };
      return { seq, failure: { kind: error.kind, message, code: error.code, cure: error.cure } };
    }
  }

  /** The file that lies at the path now: the writer may have put a damaged one aside. */
  #database(): Database.Database {
    const inode = inodeOf(this.#file);
    if (this.#open !== undefined && this.#open.inode !== inode) {
      this.#open.database.close();
      this.#open = undefined;
    }
    this.#open ??= { database: openReadOnly(this.#file), inode };
    return this.#open.database;
  }
}

if (parentPort !== null) new ReaderThread(parentPort, workerData as string).start();
