/**
 * Compression off the event loop, in a thread that does one job at a time. While it is busy,
 * small conversations do not wait for it: they are done where the request is. Larger ones
 * wait a moment; behind a job that takes longer than that, a second thread does them, which
 * ends again when it is no longer needed. A job whose time runs out while it is worked on
 * ends its thread, and so do a fault that kills it and, of a job that may take as long as
 * it likes, the client that leaves: what was decided by then is kept, and the jobs behind
 * go to another thread.
 */
import { Worker } from 'node:worker_threads';
import type { CancelSignal, Clock } from '../../../engine/index.ts';
import type { Mode } from '../rule.ts';
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

/**
 * How long a job may be worked on before those behind it overtake it. Nearly all jobs take
 * less, and another thread with its parsers is memory that is seldom needed.
 */
const OVERTAKEN_AFTER_MS = 250;
const MAX_THREADS = 2;
/** How long a second thread may have nothing to do before it ends. */
const IDLE_MS = 30_000;

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

interface Thread {
  readonly worker: Worker;
  /** What it works on. */
  current: Waiting | undefined;
  /** True when what it works on takes long. */
  isHeld: boolean;
  /** Stops what is due later: to overtake its job, or to end it when idle. */
  stopTimer: () => void;
  figures: CacheFigures;
}

const nothing = (): void => {};

export function createCompressThread(options: CompressThreadOptions): CompressThread {
  return new ThreadedCompressor(options);
}

class ThreadedCompressor implements CompressThread {
  #options: CompressThreadOptions;
  #inline: Promise<ConversationCompressor> | undefined;
  #inlineFigures: () => CacheFigures = () => NO_FIGURES;
  /** Oldest first; the first free one gets a job, so that the second is idle when one is enough. */
  #threads: Thread[] = [];
  /** The mode that every thread makes itself ready for at its start; undefined before anything is expected. */
  #prepared: Mode | undefined;
  #queue: Waiting[] = [];
  #nextId = 1;
  /** Hits and misses of threads that have ended. */
  #ended = { hits: 0, misses: 0 };

  constructor(options: CompressThreadOptions) {
    this.#options = options;
  }

  async run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    const chars = job.blocks.reduce((sum, block) => sum + block.text.length, 0);
    const isFree =
      this.#threads.length === 0 || this.#threads.some(({ current }) => current === undefined);
    if (isFree || chars > INLINE_CHARS || job.options.mode === 'aggressive') {
      return this.#runThreaded(job, maxTimeMs, signal);
    }
    try {
      this.#inline ??= this.#loadInline();
      return { outcomes: await (await this.#inline).compress(job), where: 'inline' };
    } catch {
      // A fault must not cost the request; the trace notes that nothing was done.
      return { failed: 'broken', decided: [] };
    }
  }

  prepare(mode: Mode): void {
    const isNews = mode !== this.#prepared;
    this.#prepared = mode;
    if (this.#threads.length === 0) this.#start();
    else if (isNews) {
      for (const { worker } of this.#threads)
        worker.postMessage({ prepare: mode } satisfies ToCompressor);
    }
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
        const thread = this.#threadOf(waiting);
        if (thread === undefined) this.#leave(waiting, 'cancelled');
        // A job in work goes on within its time: what it finds out the next turn need not.
        else if (maxTimeMs > 0) resolve({ failed: 'cancelled', decided: [] });
        else void this.#end(thread, 'cancelled');
      };
      const onTimeout = (): void => {
        const thread = this.#threadOf(waiting);
        if (thread === undefined) this.#leave(waiting, 'timeout');
        else void this.#end(thread, 'timeout');
      };
      const stopTimer = maxTimeMs > 0 ? this.#options.clock.after(maxTimeMs, onTimeout) : undefined;
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  #threadOf(waiting: Waiting): Thread | undefined {
    return this.#threads.find(({ current }) => current === waiting);
  }

  /** Hands the oldest jobs to the threads that have nothing to do. */
  #next(): void {
    while (this.#queue.length > 0) {
      const thread = this.#free();
      if (thread === undefined) return;
      this.#work(thread, this.#queue.shift()!);
    }
  }

  /** A thread that has nothing to do, a new one where all that there are take long, or none. */
  #free(): Thread | undefined {
    const free = this.#threads.find(({ current }) => current === undefined);
    if (free !== undefined || this.#threads.length >= MAX_THREADS) return free;
    return this.#threads.every(({ isHeld }) => isHeld) ? this.#start() : undefined;
  }

  #work(thread: Thread, waiting: Waiting): void {
    thread.stopTimer();
    thread.current = waiting;
    thread.stopTimer = this.#options.clock.after(OVERTAKEN_AFTER_MS, () => {
      thread.isHeld = true;
      this.#next();
    });
    thread.worker.postMessage(waiting.message satisfies ToCompressor);
  }

  #start(): Thread {
    const worker = new Worker(new URL('./compress-worker.js', import.meta.url), {
      workerData: { cacheEntries: this.#options.cacheEntries },
      execArgv: [],
    });
    const thread: Thread = {
      worker,
      current: undefined,
      isHeld: false,
      stopTimer: nothing,
      figures: NO_FIGURES,
    };
    worker.unref();
    worker.on('message', (message: FromCompressor) => this.#onMessage(thread, message));
    const onBroken = (): void => void this.#end(thread, 'broken');
    worker.once('error', onBroken);
    worker.once('exit', onBroken);
    this.#threads.push(thread);
    if (this.#prepared !== undefined)
      worker.postMessage({ prepare: this.#prepared } satisfies ToCompressor);
    return thread;
  }

  #onMessage(thread: Thread, message: FromCompressor): void {
    const current = thread.current;
    if (current?.message.id !== message.id) return;
    if ('failure' in message) {
      current.finish({ failed: 'broken', decided: current.decided });
      return this.#rest(thread);
    }
    current.decided.push(...message.outcomes);
    if (!('done' in message)) return;
    thread.figures = message.done;
    current.finish({ outcomes: current.decided, where: 'thread' });
    this.#rest(thread);
  }

  /** Makes a thread free whose job is done. A second one ends when it stays so. */
  #rest(thread: Thread): void {
    thread.stopTimer();
    thread.current = undefined;
    thread.isHeld = false;
    thread.stopTimer = this.#options.clock.after(IDLE_MS, () => {
      if (thread !== this.#threads[0]) void this.#end(thread, 'cancelled');
    });
    this.#next();
  }

  #leave(waiting: Waiting, failed: 'timeout' | 'cancelled'): void {
    this.#queue = this.#queue.filter((other) => other !== waiting);
    waiting.finish({ failed, decided: [] });
  }

  /** Ends a thread and the job in work; the next one gets another thread. Resolves when the old one is gone. */
  async #end(thread: Thread, failed: 'timeout' | 'cancelled' | 'broken'): Promise<void> {
    if (!this.#threads.includes(thread)) return;
    const { worker, current, figures } = thread;
    thread.stopTimer();
    thread.current = undefined;
    this.#threads = this.#threads.filter((other) => other !== thread);
    this.#ended.hits += figures.hits;
    this.#ended.misses += figures.misses;
    const gone = worker.terminate();
    current?.finish({ failed, decided: current.decided });
    // A job that has less time than a thread takes to begin would else end every one of them.
    if (failed !== 'broken' && this.#prepared !== undefined && this.#threads.length === 0)
      this.#start();
    this.#next();
    await gone;
  }

  figures(): CacheFigures {
    const live = [this.#inlineFigures(), ...this.#threads.map(({ figures }) => figures)];
    const sum = (of: (figures: CacheFigures) => number): number =>
      live.reduce((total, figures) => total + of(figures), 0);
    return {
      entries: sum(({ entries }) => entries),
      sizeBytes: sum(({ sizeBytes }) => sizeBytes),
      hits: this.#ended.hits + sum(({ hits }) => hits),
      misses: this.#ended.misses + sum(({ misses }) => misses),
    };
  }

  async close(): Promise<void> {
    this.#prepared = undefined;
    for (const waiting of this.#queue) this.#leave(waiting, 'cancelled');
    await Promise.all(this.#threads.map((thread) => this.#end(thread, 'cancelled')));
  }
}
