/**
 * Compression off the event loop. Small conversations are done at once, where
 * the request is; larger ones go to a thread, and one that takes too long ends
 * that thread: the next job gets a new one, and the request goes out as it was.
 */
import { Worker } from 'node:worker_threads';
import type { CancelSignal, Clock } from '../../engine/index.ts';
import type { ConversationCompressor } from './conversation-compressor.ts';
import type { CacheFigures, CompressJob, FromCompressor, JobOutcome, ToCompressor } from './job.ts';

/** Up to this much text is compressed on the event loop: some 2 ms. Loading parsers for code never is. */
const INLINE_CHARS = 16 * 1024;

/** How a job ended: with outcomes, or without because time ran out, the client left or the thread broke. */
export type JobResult =
  | { readonly outcomes: readonly JobOutcome[]; readonly where: 'inline' | 'thread' }
  | { readonly failed: 'timeout' | 'cancelled' | 'broken' };

export interface CompressThread {
  /** Compresses within `maxTimeMs` (0: no limit). Never rejects. */
  run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult>;
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
  readonly resolve: (result: JobResult) => void;
}

export function createCompressThread(options: CompressThreadOptions): CompressThread {
  return new ThreadedCompressor(options);
}

class ThreadedCompressor implements CompressThread {
  #options: CompressThreadOptions;
  #inline: Promise<ConversationCompressor> | undefined;
  #inlineFigures: () => CacheFigures = () => NO_FIGURES;
  #worker: Worker | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #figures: CacheFigures = NO_FIGURES;

  constructor(options: CompressThreadOptions) {
    this.#options = options;
  }

  async run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    const chars = job.blocks.reduce((sum, block) => sum + block.text.length, 0);
    if (chars > INLINE_CHARS || job.options.mode === 'aggressive') {
      return this.#runThreaded(job, maxTimeMs, signal);
    }
    try {
      this.#inline ??= this.#loadInline();
      return { outcomes: await (await this.#inline).compress(job), where: 'inline' };
    } catch {
      // A fault in an algorithm must not cost the request; the trace tells that nothing was done.
      return { failed: 'broken' };
    }
  }

  /** The algorithms are many files, which a start should not wait for. */
  async #loadInline(): Promise<ConversationCompressor> {
    const { createConversationCompressor } = await import('./conversation-compressor.ts');
    const compressor = createConversationCompressor(this.#options.cacheEntries);
    this.#inlineFigures = () => compressor.figures();
    return compressor;
  }

  #runThreaded(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const finish = (result: JobResult): void => {
        if (!this.#waiting.delete(id)) return;
        stopTimer?.();
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = (): void => finish({ failed: 'cancelled' });
      const onTimeout = (): void => {
        finish({ failed: 'timeout' });
        this.#restart();
      };
      const stopTimer = maxTimeMs > 0 ? this.#options.clock.after(maxTimeMs, onTimeout) : undefined;
      this.#waiting.set(id, { resolve: finish });
      signal.addEventListener('abort', onAbort, { once: true });
      const message: ToCompressor = { id, job };
      this.#thread().postMessage(message);
    });
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./compress-worker.js', import.meta.url), {
      workerData: { cacheEntries: this.#options.cacheEntries },
      execArgv: [],
    });
    worker.unref();
    worker.on('message', (message: FromCompressor) => this.#onMessage(message));
    worker.once('error', () => this.#onBroken(worker));
    worker.once('exit', () => this.#onBroken(worker));
    this.#worker = worker;
    return worker;
  }

  #onMessage(message: FromCompressor): void {
    const waiting = this.#waiting.get(message.id);
    if ('failure' in message) {
      waiting?.resolve({ failed: 'broken' });
      return;
    }
    this.#figures = message.cache;
    waiting?.resolve({ outcomes: message.outcomes, where: 'thread' });
  }

  /** What the thread still had to do is not done: those requests go out as they were. */
  #onBroken(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { resolve } of this.#waiting.values()) resolve({ failed: 'broken' });
  }

  #restart(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
    for (const { resolve } of this.#waiting.values()) resolve({ failed: 'timeout' });
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
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
