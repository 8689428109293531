/**
 * A Kysely driver whose connection lives in a thread of its own. A sum over
 * 100,000 rows takes some 100 ms; on the main thread every stream would stand
 * still for that long.
 */
import { Worker } from 'node:worker_threads';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import {
  CamelCasePlugin,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { ErrorKind } from '../../engine/index.ts';
import { SvcError } from '../../engine/index.ts';
import type { LedgerReader } from './database.ts';
import type { LedgerSchema } from './tables.ts';

/** A question to the thread. */
export interface ToReader {
  readonly seq: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Its answer: rows, or why not. */
export type FromReader =
  | { readonly seq: number; readonly rows: readonly unknown[] }
  | { readonly seq: number; readonly failure: ReaderFailure };

/** A `SvcError` on its way between threads. */
export interface ReaderFailure {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly code?: string | undefined;
  readonly cure?: string | undefined;
}

interface Waiter {
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: SvcError) => void;
}

/**
 * The ledger for a server: the same type as `openLedgerReader` gives, answered from another
 * thread, which starts with the first query. The file need not exist yet: a query then rejects
 * with what `openReadOnly` throws, and later ones try again. End the thread with `destroy()`.
 */
export function openThreadedLedgerReader(file: string): LedgerReader {
  const driver = new ThreadDriver(file);
  return new Kysely<LedgerSchema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    plugins: [new CamelCasePlugin()],
  });
}

class ThreadDriver implements Driver, DatabaseConnection {
  readonly #file: string;
  #worker: Worker | undefined;
  readonly #waiting = new Map<number, Waiter>();
  #seq = 0;
  #isEnding = false;

  constructor(file: string) {
    this.#file = file;
  }

  async init(): Promise<void> {
    // The thread starts with the first query.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this;
  }

  async releaseConnection(): Promise<void> {
    // One connection serves all: each query is a message of its own.
  }

  beginTransaction(): Promise<void> {
    return refuseTransaction();
  }

  commitTransaction(): Promise<void> {
    return refuseTransaction();
  }

  rollbackTransaction(): Promise<void> {
    return refuseTransaction();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const worker = (this.#worker ??= this.#start());
    this.#seq += 1;
    const message: ToReader = { seq: this.#seq, sql: query.sql, parameters: query.parameters };
    const rows = await new Promise<readonly unknown[]>((resolve, reject) => {
      this.#waiting.set(message.seq, { resolve, reject });
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a Worker has none
      worker.postMessage(message);
    });
    return { rows: rows as R[] };
  }

  // oxlint-disable-next-line require-yield -- Kysely asks for the method; rows come in one message
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new SvcError('internal', 'The ledger is read in whole results, not in streams');
  }

  async destroy(): Promise<void> {
    this.#isEnding = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./reader-worker.js', import.meta.url), {
      workerData: this.#file,
      name: 'svc-ledger-reader',
      execArgv: [],
    });
    let cause: unknown;
    worker.on('message', (answer: FromReader) => this.#hear(answer));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => this.#onExit(cause));
    return worker;
  }

  #hear(answer: FromReader): void {
    const waiter = this.#waiting.get(answer.seq);
    this.#waiting.delete(answer.seq);
    // One that is being ended is waited for, and nothing else may keep the process alive till then.
    if (this.#waiting.size === 0 && !this.#isEnding) this.#worker?.unref();
    if ('rows' in answer) waiter?.resolve(answer.rows);
    else waiter?.reject(toError(answer.failure));
  }

  /** The next query starts another thread; those that waited on this one have no answer. */
  #onExit(cause: unknown): void {
    this.#worker = undefined;
    const error = new SvcError('unavailable', 'The ledger could not be read', { cause });
    for (const waiter of this.#waiting.values()) waiter.reject(error);
    this.#waiting.clear();
  }
}

async function refuseTransaction(): Promise<void> {
  throw new SvcError('internal', 'The ledger is read-only here; only its writer has transactions');
}

function toError({ kind, message, code, cure }: ReaderFailure): SvcError {
  return new SvcError(kind, message, {
    ...(code !== undefined && { code }),
    ...(cure !== undefined && { cure }),
  });
}
