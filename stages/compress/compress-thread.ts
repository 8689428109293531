/**
 * Compression off the event loop, in a thread that does one job at a time. While it is busy,
 * small conversations do not wait for it: they are done where the request is. A job whose
 * time runs out while it is worked on ends that thread, and so do a fault that kills it
 * and, of a job that may take as long as it likes, the client that leaves: what was
 * decided by then is kept, and the jobs behind go to a new thread.
 */
import { Worker } from 'node:worker_threads';
import type { CancelSignal, Clock } from '../../engine/index.ts';
import type { Mode } from './compressor.ts';
import type { ConversationCompressor } from './conversation-compressor.ts';
import type {
  CacheFigures,
  CompressJob,
  CompressMessage,
  FromCompressor,
  JobOutcome,
  ToCompressor,
} from './job.ts';

/** Up to this much text may be compressed on the event loop: some 2 ms. Loading parsers for code never is. */
const INLINE_CHARS = 16 * 1024;

/** Outcomes of all blocks, or of the first ones and why there are no more. */
export type JobResult =
  | { readonly outcomes: readonly JobOutcome[]; readonly where: 'inline' | 'thread' }
  | {
      /** Time ran out, the client left, or something broke. */
      readonly failed: 'timeout' | 'cancelled' | 'broken';
      /** What was decided before; the first blocks of the job, maybe none. */
      readonly decided: readonly JobOutcome[];
    };

export interface CompressThread {
  /** Compresses within `maxTimeMs` (0: no limit), time spent waiting included. Never rejects. */
  run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult>;
  /** Starts the thread and loads what `mode` needs, or that alone where it runs: the first request need not wait for it. */
  prepare(mode: Mode): void;
  /** Hits and misses of the speed cache, as last heard. */
  figures(): CacheFigures;
  close(): Promise<void>;
}

export interface CompressThreadOptions {
  readonly cacheEntries: number;
  readonly clock: Clock;
}

const NO_FIGURES: CacheFigures = { entries: 0, sizeBytes: 0, hits: 0, misses: 0 };

interface Waiting {
  readonly message: CompressMessage;
  readonly decided: JobOutcome[];
  readonly finish: (result: JobResult) => void;
}

export function createCompressThread(options: CompressThreadOptions): CompressThread {
  return new ThreadedCompressor(options);
}

class ThreadedCompressor implements CompressThread {
  #options: CompressThreadOptions;
  #inline: Promise<ConversationCompressor> | undefined;
  #inlineFigures: () => CacheFigures = () => NO_FIGURES;
  #worker: Worker | undefined;
  /** The mode that every thread makes itself ready for at its start; undefined before anything is expected. */
  #prepared: Mode | undefined;
  #queue: Waiting[] = [];
  /** What the thread works on. */
  #current: Waiting | undefined;
  #nextId = 1;
  #figures: CacheFigures = NO_FIGURES;

  constructor(options: CompressThreadOptions) {
    this.#options = options;
  }

  async run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    const chars = job.blocks.reduce((sum, block) => sum + block.text.length, 0);
    const isFree = this.#current === undefined;
    if (isFree || chars > INLINE_CHARS || job.options.mode === 'aggressive') {
      return this.#runThreaded(job, maxTimeMs, signal);
    }
    try {
      this.#inline ??= this.#loadInline();
      return { outcomes: await (await this.#inline).compress(job), where: 'inline' };
    } catch {
      // A fault must not cost the request; the trace tells that nothing was done.
      return { failed: 'broken', decided: [] };
    }
  }

  prepare(mode: Mode): void {
    const isNews = mode !== this.#prepared;
    this.#prepared = mode;
    if (this.#worker === undefined) this.#thread();
    else if (isNews) this.#worker.postMessage({ prepare: mode } satisfies ToCompressor);
  }

  /** The algorithms are many files: to load them takes the event loop 100 ms, which few processes ever need. */
  async #loadInline(): Promise<ConversationCompressor> {
    const { createConversationCompressor } = await import('./conversation-compressor.ts');
    const compressor = createConversationCompressor(this.#options.cacheEntries);
    this.#inlineFigures = () => compressor.figures();
    return compressor;
  }

  #runThreaded(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    if (signal.aborted) return Promise.resolve({ failed: 'cancelled', decided: [] });
    const message: CompressMessage = { id: this.#nextId++, job };
    return new Promise((resolve) => {
      const finish = (result: JobResult): void => {
        stopTimer?.();
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const waiting: Waiting = { message, decided: [], finish };
      const onAbort = (): void => {
        if (waiting !== this.#current) this.#leave(waiting, 'cancelled');
        // A job in work goes on within its time: what it finds out the next turn need not.
        else if (maxTimeMs > 0) resolve({ failed: 'cancelled', decided: [] });
        else void this.#endThread('cancelled');
      };
      const onTimeout = (): void => {
        if (waiting === this.#current) void this.#endThread('timeout');
        else this.#leave(waiting, 'timeout');
      };
      const stopTimer = maxTimeMs > 0 ? this.#options.clock.after(maxTimeMs, onTimeout) : undefined;
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  /** Hands the oldest job to the thread if that has nothing to do. */
  #next(): void {
    if (this.#current !== undefined) return;
    this.#current = this.#queue.shift();
    if (this.#current !== undefined)
      this.#thread().postMessage(this.#current.message satisfies ToCompressor);
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./compress-worker.js', import.meta.url), {
      workerData: { cacheEntries: this.#options.cacheEntries },
      execArgv: [],
    });
    worker.unref();
    worker.on('message', (message: FromCompressor) => this.#onMessage(message));
    const onBroken = (): void => {
      if (this.#worker === worker) void this.#endThread('broken');
    };
    worker.once('error', onBroken);
    worker.once('exit', onBroken);
    this.#worker = worker;
    if (this.#prepared !== undefined)
      worker.postMessage({ prepare: this.#prepared } satisfies ToCompressor);
    return worker;
  }

  #onMessage(message: FromCompressor): void {
    const current = this.#current;
    if (current?.message.id !== message.id) return;
    if ('failure' in message) {
      this.#current = undefined;
      current.finish({ failed: 'broken', decided: current.decided });
      return this.#next();
    }
    current.decided.push(...message.outcomes);
    if (!('done' in message)) return;
    this.#figures = message.done;
    this.#current = undefined;
    current.finish({ outcomes: current.decided, where: 'thread' });
    this.#next();
  }

  #leave(waiting: Waiting, failed: 'timeout' | 'cancelled'): void {
    this.#queue = this.#queue.filter((other) => other !== waiting);
    waiting.finish({ failed, decided: [] });
  }

  /** Ends the thread and the job in work; the next one gets a new thread. Resolves when the old one is gone. */
  async #endThread(failed: 'timeout' | 'cancelled' | 'broken'): Promise<void> {
    const worker = this.#worker;
    const current = this.#current;
    this.#worker = undefined;
    this.#current = undefined;
    const gone = worker?.terminate();
    current?.finish({ failed, decided: current.decided });
    // A job that has less time than a thread takes to begin would else end every one of them.
    if (failed !== 'broken' && this.#prepared !== undefined) this.#thread();
    this.#next();
    await gone;
  }

  figures(): CacheFigures {
    const inline = this.#inlineFigures();
    const threaded = this.#figures;
    return {
      entries: inline.entries + threaded.entries,
      sizeBytes: inline.sizeBytes + threaded.sizeBytes,
      hits: inline.hits + threaded.hits,
      misses: inline.misses + threaded.misses,
    };
  }

  async close(): Promise<void> {
    this.#prepared = undefined;
    for (const waiting of this.#queue) this.#leave(waiting, 'cancelled');
    await this.#endThread('cancelled');
  }
}
