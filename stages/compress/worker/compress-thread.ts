/**
 * Compression off the event loop, in threads that do one job at a time. While they are busy,
 * small conversations do not wait for them: they are done where the request is. Larger ones
 * wait a moment; where that is not enough, another thread does them, which ends again when it
 * is no longer needed. A conversation goes back to the thread that did its last turn: another
 * one would have to do all of its turns again, to the same bytes. Of a job that is ended, by
 * its time or by a fault, what was decided by then is kept.
 */
import type { CancelSignal, Clock } from '../../../engine/index.ts';
import { WorkerPool } from '../../threads/pool.ts';
import type { JobOptions } from '../../threads/pool.ts';
import type { PoolLoad } from '../../threads/pool-options.ts';
import type { ConversationCompressor } from './conversation-compressor.ts';
import type { CacheFigures } from '../pass/cache.ts';
import { TIMED_OUT } from '../pass/timed-out-blocks.ts';
import { DEFAULT_WORKERS } from './count.ts';
import { isStart, ThreadFaults } from './thread-faults.ts';
import type { CompressJob, CompressProtocol, Expected, JobOutcome } from './job.ts';

/** Up to this much text may be compressed on the event loop: some 2 ms. Loading parsers for code never is. */
const INLINE_CHARS = 16 * 1024;

/**
 * How long a job may be worked on, or wait, before another thread is started or a conversation
 * goes to one that does not know it. Nearly all jobs take less than a thread takes to start
 * (250 to 700 ms until it has done its first job), and the 60 MB that it needs are seldom missed.
 */
const OVERTAKEN_AFTER_MS = 250;
/** A thread that is not ready after this long never will be. */
const START_WITHIN_MS = 60_000;
/** How long the older threads must have been enough before another one ends. */
const IDLE_MS = 30_000;

/** Outcomes of all blocks, or of the first ones and why there are no more. */
export type JobResult =
  | { readonly outcomes: readonly JobOutcome[]; readonly where: 'inline' | 'thread' }
  | {
      /** Time ran out at work or before the thread had started, the client left, or something broke. */
      readonly failed: 'timeout' | 'starting' | 'cancelled' | 'broken';
      /** What was decided before; the first blocks of the job, maybe none. */
      readonly decided: readonly JobOutcome[];
    };

export interface CompressThread {
  /**
   * Compresses within `maxTimeMs` (0: no limit), time spent waiting included. It may take as long
   * again where the thread had to start first. Never rejects.
   */
  run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult>;
  /** Starts a thread and loads what `expected` needs, or that alone where any runs: the first request need not wait for it. */
  prepare(expected: Expected): void;
  /** Hits and misses of the speed cache, as last heard. */
  figures(): CacheFigures;
  /** The threads, and what waits for them. */
  load(): PoolLoad;
  /** Why no request is compressed, in words; undefined where they are. */
  trouble(): string | undefined;
  close(): Promise<void>;
}

export interface CompressThreadOptions {
  readonly cacheEntries: number;
  readonly clock: Clock;
  /** Threads at most. Default: that of the setting. */
  readonly workers?: number;
}

const NO_FIGURES: CacheFigures = { entries: 0, sizeBytes: 0, hits: 0, misses: 0 };

export function createCompressThread(options: CompressThreadOptions): CompressThread {
  return new ThreadedCompressor(options);
}

/** False where a job was done at once since what took too long in an earlier turn was left out: it shows no thread that does its work. */
function showsWork(outcomes: readonly JobOutcome[]): boolean {
  return (
    outcomes.every(({ reason }) => reason !== TIMED_OUT) ||
    outcomes.some(({ changed, isTried }) => changed || isTried)
  );
}

class ThreadedCompressor implements CompressThread {
  readonly #cacheEntries: number;
  readonly #pool: WorkerPool<CompressProtocol>;
  readonly #faults: ThreadFaults;
  #inline: Promise<ConversationCompressor> | undefined;
  #inlineFigures: () => CacheFigures = () => NO_FIGURES;
  /** Those of each thread, as last heard. */
  readonly #live = new Map<number, CacheFigures>();
  /** Hits and misses of threads that have ended. */
  readonly #ended = { hits: 0, misses: 0 };

  constructor({ cacheEntries, clock, workers = DEFAULT_WORKERS }: CompressThreadOptions) {
    this.#cacheEntries = cacheEntries;
    this.#faults = new ThreadFaults(clock);
    this.#pool = new WorkerPool({
      entry: new URL('./compress-worker.js', import.meta.url),
      name: 'svc-compress',
      data: { cacheEntries },
      clock,
      size: workers,
      overtakeAfterMs: OVERTAKEN_AFTER_MS,
      idleMs: IDLE_MS,
      startWithinMs: START_WITHIN_MS,
      onEvent: (figures, thread) => void this.#live.set(thread, figures),
      onGone: (thread) => this.#onGone(thread),
    });
  }

  async run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    const chars = job.blocks.reduce((sum, block) => sum + block.text.length, 0);
    const { mode, recipes } = job.options;
    const isParsed = mode === 'aggressive' || job.blocks.some((block) => block.partWords);
    const isThreaded = chars > INLINE_CHARS || isParsed || recipes?.isOwn === true;
    const limits = { timeoutMs: maxTimeMs, signal };
    const isStuck = this.#faults.isResting && !this.#pool.isReady;
    if (isThreaded && isStuck && maxTimeMs > 0) return { failed: 'starting', decided: [] };
    if (isThreaded) {
      // One that has all earlier turns at hand is many times as quick.
      const { conversation: affinity } = job;
      return this.#runThreaded(job, { ...limits, ...(affinity !== undefined && { affinity }) });
    }
    if (this.#pool.isFree && !isStuck) return this.#runThreaded(job, limits);
    try {
      this.#inline ??= this.#loadInline();
      return { outcomes: await (await this.#inline).compress(job), where: 'inline' };
    } catch {
      // A fault must not cost the request; the trace tells that nothing was done.
      return { failed: 'broken', decided: [] };
    }
  }

  prepare(expected: Expected): void {
    this.#pool.prepare(expected);
  }

  /** The algorithms are many files: to load them takes the event loop 100 ms, which few processes ever need. */
  async #loadInline(): Promise<ConversationCompressor> {
    const { createConversationCompressor } = await import('./conversation-compressor.ts');
    const compressor = createConversationCompressor(this.#cacheEntries);
    this.#inlineFigures = () => compressor.figures();
    return compressor;
  }

  async #runThreaded(job: CompressJob, limits: JobOptions<CompressProtocol>): Promise<JobResult> {
    const decided: JobOutcome[] = [];
    const end = await this.#pool.run(job, {
      ...limits,
      onPart: (outcomes) => void decided.push(...outcomes),
    });
    if ('done' in end) {
      const outcomes = [...decided, ...end.done];
      if (showsWork(outcomes)) this.#faults.note(end);
      return { outcomes, where: 'thread' };
    }
    this.#faults.note(end);
    if (isStart(end)) return { failed: 'starting', decided: [...decided] };
    const failed = end.failed === 'timeout' || end.failed === 'cancelled' ? end.failed : 'broken';
    return { failed, decided: [...decided] };
  }

  #onGone(thread: number): void {
    const { hits, misses } = this.#live.get(thread) ?? NO_FIGURES;
    this.#live.delete(thread);
    this.#ended.hits += hits;
    this.#ended.misses += misses;
  }

  figures(): CacheFigures {
    const live = [this.#inlineFigures(), ...this.#live.values()];
    const sum = (of: (figures: CacheFigures) => number): number =>
      live.reduce((total, figures) => total + of(figures), 0);
    return {
      entries: sum(({ entries }) => entries),
      sizeBytes: sum(({ sizeBytes }) => sizeBytes),
      hits: this.#ended.hits + sum(({ hits }) => hits),
      misses: this.#ended.misses + sum(({ misses }) => misses),
    };
  }

  load(): PoolLoad {
    return this.#pool.load;
  }

  trouble(): string | undefined {
    return this.#faults.trouble;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
