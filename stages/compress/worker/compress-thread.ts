/**
 * Compression off the event loop, in threads that do one job at a time. While they are busy, small
 * conversations do not wait but are compressed inline. Larger ones wait briefly; if that is not
 * enough, another thread is started, which ends when it is no longer needed. A conversation returns
 * to the thread that did its last turn: another one would have to recompute all of its turns, to
 * the same bytes. When a job is aborted by its time limit or a fault, the outcomes so far are kept.
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
import { ContinuedJobs } from './continued-jobs.ts';
import type { Prepared } from './continued-jobs.ts';
import { UNKNOWN_STATE } from './job.ts';
import type { CompressJob, CompressProtocol, Expected, JobOutcome } from './job.ts';

/**
 * Texts up to this size may be compressed on the event loop: some 2 ms. Code parsers are never
 * loaded there.
 */
const INLINE_CHARS = 16 * 1024;

/**
 * How long a job may run or wait before another thread is started, or the conversation moves to a
 * thread that does not know it. Nearly all jobs take less than the start of a thread (250 to 700 ms
 * until its first job is done), and its 60 MB are seldom missed.
 */
const SECOND_THREAD_AFTER_MS = 250;
/** A thread that is not ready after this long is considered failed. */
const MAX_START_MS = 60_000;
/** How long the older threads must have sufficed before another one ends. */
const IDLE_MS = 30_000;

/** Outcomes of all blocks, or of the first ones and why the rest is missing. */
export type JobResult =
  | { readonly outcomes: readonly JobOutcome[]; readonly where: 'inline' | 'thread' }
  | {
      /**
       * Time ran out while working or before the thread had started, the client disconnected, or a
       * fault occurred.
       */
      readonly failed: 'timeout' | 'starting' | 'cancelled' | 'broken';
      /** Outcomes decided before that: the first blocks of the job, possibly none. */
      readonly decided: readonly JobOutcome[];
    };

export interface CompressThread {
  /**
   * Compresses within `maxTimeMs` (0: no limit), including time spent waiting. It may take twice
   * that if the thread had to be started first. Never rejects.
   */
  run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult>;
  /**
   * Starts a thread, if none runs, and loads what `expected` needs, so that the first request need
   * not wait.
   */
  prepare(expected: Expected): void;
  /** Hits and misses of the cache, as last reported. */
  figures(): CacheFigures;
  /** The threads and the jobs waiting for them. */
  load(): PoolLoad;
  /** Why requests are currently not compressed, in words; undefined if they are. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export interface CompressThreadOptions {
  readonly cacheEntries: number;
  readonly clock: Clock;
  /** Maximum number of threads; by default that of the setting. */
  readonly workers?: number;
}

const NO_FIGURES: CacheFigures = { entries: 0, sizeBytes: 0, hits: 0, misses: 0 };

export function createCompressThread(options: CompressThreadOptions): CompressThread {
  return new ThreadedCompressor(options);
}

/**
 * Returns false if a job was fast only because earlier timed-out blocks were skipped: it does not
 * prove a healthy thread.
 */
function provesHealth(outcomes: readonly JobOutcome[]): boolean {
  return (
    outcomes.every(({ reason }) => reason !== TIMED_OUT) ||
    outcomes.some(({ changed, isTried }) => changed || isTried)
  );
}

class ThreadedCompressor implements CompressThread {
  readonly #cacheEntries: number;
  readonly #pool: WorkerPool<CompressProtocol>;
  readonly #faults: ThreadFaults;
  readonly #jobs = new ContinuedJobs();
  #inline: Promise<ConversationCompressor> | undefined;
  #inlineFigures: () => CacheFigures = () => NO_FIGURES;
  /** Figures of each thread, as last reported. */
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
      overtakeAfterMs: SECOND_THREAD_AFTER_MS,
      idleMs: IDLE_MS,
      startWithinMs: MAX_START_MS,
      onEvent: (figures, thread) => void this.#live.set(thread, figures),
      onGone: (thread) => this.#onGone(thread),
    });
  }

  async run(job: CompressJob, maxTimeMs: number, signal: CancelSignal): Promise<JobResult> {
    const chars = job.blocks.reduce((sum, block) => sum + block.text.length, 0);
    const { mode, recipes } = job.options;
    const isParsed = mode === 'aggressive' || job.blocks.some((block) => block.rangeRequest);
    const isThreaded = chars > INLINE_CHARS || isParsed || recipes?.isOwn === true;
    const limits = { timeoutMs: maxTimeMs, signal };
    const isStuck = this.#faults.isResting && !this.#pool.isReady;
    if (isThreaded && isStuck && maxTimeMs > 0) return { failed: 'starting', decided: [] };
    if (isThreaded) {
      // A thread that holds all earlier turns is many times faster.
      const { conversation: affinity } = job;
      return this.#runThreaded(job, { ...limits, ...(affinity !== undefined && { affinity }) });
    }
    if (this.#pool.isFree && !isStuck) return this.#runThreaded(job, limits);
    try {
      this.#inline ??= this.#loadInline();
      return { outcomes: await (await this.#inline).compress(job), where: 'inline' };
    } catch {
      // A fault must not fail the request; the trace shows that nothing was compressed.
      return { failed: 'broken', decided: [] };
    }
  }

  prepare(expected: Expected): void {
    this.#pool.prepare(expected);
  }

  /**
   * Loads the algorithms lazily: they block the event loop for 100 ms, and few processes need them
   * inline.
   */
  async #loadInline(): Promise<ConversationCompressor> {
    const { createConversationCompressor } = await import('./conversation-compressor.ts');
    const compressor = createConversationCompressor(this.#cacheEntries);
    this.#inlineFigures = () => compressor.figures();
    return compressor;
  }

  async #runThreaded(
    job: CompressJob,
    limits: JobOptions<CompressProtocol>,
    prepared: Prepared = this.#jobs.prepare(job),
  ): Promise<JobResult> {
    const { sent, known } = prepared;
    const decided: JobOutcome[] = [...known];
    const end = await this.#pool.run(sent, {
      ...limits,
      onPart: (outcomes) => void decided.push(...outcomes),
    });
    if ('done' in end) {
      if (end.done === UNKNOWN_STATE) return this.#runThreaded(job, limits, this.#jobs.whole(job));
      decided.push(...end.done);
      this.#jobs.done(job, sent, decided);
      if (provesHealth(decided)) this.#faults.note(end);
      return { outcomes: decided, where: 'thread' };
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

  problem(): string | undefined {
    return this.#faults.problem;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
