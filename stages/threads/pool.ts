/**
 * Worker threads that do jobs: the pool used by compression, the index, the ledger and captures.
 * Threads start on demand, and jobs of one affinity go to the same thread. A job whose time runs
 * out while it is running ends its thread, and so does the cancel signal of a running job without a
 * time limit. The jobs queued on that thread go to another one, as they do when a thread dies. A
 * starting thread is never ended for a job's sake: otherwise none would become ready where a start
 * takes longer than a job may.
 */
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../engine/index.ts';
import type { CancelSignal, Clock } from '../../engine/index.ts';
import { endOf, type JobEnd, type JobFault } from './job-end.ts';
import { JobQueue } from './job-queue.ts';
import type { FromThread, Protocol, ToThread } from './messages.ts';
import type { PoolLoad, PoolOptions } from './pool-options.ts';
import { ThreadStart } from './start.ts';

export interface JobOptions<P extends Protocol> {
  /**
   * Includes time spent waiting, for a starting thread as well; restarts when that thread is ready.
   * 0 (default): no limit.
   */
  readonly timeoutMs?: number;
  readonly signal?: CancelSignal;
  readonly onPart?: (part: P['part']) => void;
  /** Jobs with the same affinity share state, held by the thread that had the last of them. */
  readonly affinity?: string;
}

interface Task<P extends Protocol> {
  readonly id: number;
  readonly job: P['job'];
  readonly onPart: ((part: P['part']) => void) | undefined;
  readonly finish: (end: JobEnd<P['result']>) => void;
  readonly affinity: string | undefined;
  /** True when it has waited long enough to get a thread of its own. */
  isOverdue: boolean;
  /** Stops the timer that makes it overdue. */
  stopTimer: () => void;
  /** Restarts its time limit. */
  readonly restartLimit: () => void;
}

interface Thread<P extends Protocol> {
  readonly number: number;
  readonly worker: Worker;
  readonly exited: Promise<void>;
  readonly tasks: Map<number, Task<P>>;
  readonly start: ThreadStart;
  /** True when its current job takes so long that others may overtake it. */
  isHeld: boolean;
  /** True when the older threads have sufficed for so long that it ends after its job. */
  isSpare: boolean;
  /** Stops the timer that makes it held. */
  stopTimer: () => void;
  /** Stops the timer that makes it spare; undefined while it is needed. */
  stopIdle: (() => void) | undefined;
}

const noop = (): void => {};

export class WorkerPool<P extends Protocol> {
  readonly #options: PoolOptions<P>;
  readonly #clock: Clock;
  readonly #size: number;
  readonly #queue: JobQueue<Task<P>, Thread<P>>;
  /** Oldest first; the first free one gets a job, so that the others are idle when one suffices. */
  #threads: Thread<P>[] = [];
  #nextId = 1;
  #notice: P['notice'] | undefined;
  #holds = 0;
  #deaths = 0;
  #stopRestart: (() => void) | undefined;
  #isClosed = false;

  constructor(options: PoolOptions<P>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#size = options.size ?? 1;
    this.#queue = new JobQueue(options.jobsAtOnce ?? 1);
  }

  /** True when a job without an affinity would start at once. */
  get isFree(): boolean {
    return this.#threads.length === 0 || this.#queue.free(this.#threads) !== undefined;
  }

  get isRunning(): boolean {
    return this.#threads.length > 0;
  }

  /** True when a thread could run a job at full speed, at once or after its current one. */
  get isReady(): boolean {
    return this.#threads.some(({ start }) => start.isReady);
  }

  get load(): PoolLoad {
    return {
      maxThreads: this.#size,
      threads: this.#threads.length,
      threadsAtWork: this.#threads.filter(({ tasks }) => tasks.size > 0).length,
      jobsWaiting: this.#queue.size,
    };
  }

  /** Runs a job. Never rejects. */
  run(job: P['job'], options: JobOptions<P> = {}): Promise<JobEnd<P['result']>> {
    const { timeoutMs = 0, signal, onPart, affinity } = options;
    const { overtakeAfterMs = 0 } = this.#options;
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve({ failed: 'cancelled' });
    const id = this.#nextId++;
    return new Promise((resolve) => {
      let stopLimit = noop;
      const finish = (end: JobEnd<P['result']>): void => {
        stopLimit();
        task.stopTimer();
        signal?.removeEventListener('abort', onAbort);
        resolve(end);
      };
      const giveUp = (failed: 'timeout' | 'cancelled'): void => {
        const thread = this.#threadOf(id);
        const fault = failed === 'timeout' && isStarting(thread) ? 'starting' : failed;
        if (thread?.start.isLoaded === false) this.#withdraw(thread, task);
        // The job's current work is part of the start, and its result is kept for the next job.
        else if (thread !== undefined && fault === 'starting') return resolve({ failed: fault });
        else if (thread !== undefined) return void this.#end(thread, failed);
        this.#queue.remove(id);
        finish({ failed: fault });
      };
      const isStarting = (thread: Thread<P> | undefined): boolean =>
        (thread === undefined ? this.#threads : [thread]).some(({ start }) => !start.isReady);
      const onAbort = (): void => {
        // A running job continues within its time: starting another thread is slow, and the next
        // turn may need the result.
        if (timeoutMs > 0 && this.#threadOf(id) !== undefined) resolve({ failed: 'cancelled' });
        else giveUp('cancelled');
      };
      const restartLimit = (): void => {
        stopLimit();
        if (timeoutMs > 0) stopLimit = this.#clock.after(timeoutMs, () => giveUp('timeout'));
      };
      restartLimit();
      signal?.addEventListener('abort', onAbort, { once: true });
      const isOverdue = overtakeAfterMs === 0;
      const task: Task<P> = {
        id,
        job,
        onPart,
        finish,
        affinity,
        isOverdue,
        stopTimer: noop,
        restartLimit,
      };
      this.#queue.push(task);
      this.#next();
      if (isOverdue || this.#threadOf(id) !== undefined) return;
      task.stopTimer = this.#clock.after(overtakeAfterMs, () => {
        task.isOverdue = true;
        this.#next();
      });
    });
  }

  /** Starts a thread in advance. */
  start(): void {
    if (this.#threads.length === 0 && !this.#isClosed) this.#start();
  }

  /** Sends `notice` to every thread, present and future, and starts one. */
  prepare(notice: P['notice']): void {
    const isNews = notice !== this.#notice;
    this.#notice = notice;
    if (this.#threads.length === 0) this.start();
    else if (isNews) for (const thread of this.#threads) this.#notify(thread, notice);
  }

  /** Makes the threads keep the process alive until the returned function is called, once. */
  hold(): () => void {
    this.#holds += 1;
    this.#keepAlive();
    let isHeld = true;
    return () => {
      if (isHeld) this.#holds -= 1;
      isHeld = false;
      this.#keepAlive();
    };
  }

  /**
   * Ends all threads. With `graceMs` they receive the waiting jobs and may finish them in that
   * time; unfinished jobs, and all later ones, are cancelled.
   */
  async close(graceMs = 0): Promise<void> {
    this.#isClosed = true;
    this.#stopRestart?.();
    const [first] = this.#threads;
    if (graceMs > 0 && first !== undefined) {
      for (const task of this.#queue.clear()) this.#give(first, task);
      await this.#closeGently(graceMs);
    }
    for (const task of this.#queue.clear()) task.finish({ failed: 'cancelled' });
    await Promise.all(this.#threads.map((thread) => this.#end(thread, 'cancelled')));
  }

  async #closeGently(graceMs: number): Promise<void> {
    for (const thread of this.#threads) {
      thread.worker.ref();
      this.#post(thread, { close: true });
    }
    // A real timer: a test's stopped clock must not block the shutdown.
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(this.#threads.map(({ exited }) => exited)), isOver]);
    clearTimeout(timer);
  }

  /** Assigns jobs to threads while possible. */
  #next(): void {
    for (;;) {
      const mayStart =
        !this.#isClosed && this.#stopRestart === undefined && this.#threads.length < this.#size;
      const turn = this.#queue.next(this.#threads, mayStart);
      if (turn === undefined) return;
      this.#give(turn.thread ?? this.#start(), turn.job);
    }
  }

  #give(thread: Thread<P>, task: Task<P>): void {
    const { overtakeAfterMs = 0 } = this.#options;
    if (this.#queue.free(this.#threads) === thread) this.#keep(thread);
    task.stopTimer();
    thread.stopTimer();
    thread.isHeld = false;
    thread.tasks.set(task.id, task);
    this.#queue.noteAssigned(task, thread);
    if (overtakeAfterMs > 0) {
      thread.stopTimer = this.#clock.after(overtakeAfterMs, () => {
        thread.isHeld = true;
        this.#next();
      });
    }
    this.#keepAlive();
    this.#post(thread, { id: task.id, job: task.job });
  }

  #start(): Thread<P> {
    const { entry, name, data, limits, startWithinMs } = this.#options;
    const worker = new Worker(entry, {
      workerData: data,
      name,
      // Flags of the process, such as those of `node -e`, may not be valid for a thread.
      execArgv: [],
      ...(limits !== undefined && { resourceLimits: limits }),
    });
    let cause: Error | undefined;
    const thread: Thread<P> = {
      number: this.#nextId++,
      worker,
      exited: new Promise((resolve) => {
        worker.once('exit', () => {
          this.#onExit(thread, cause);
          resolve();
        });
      }),
      tasks: new Map(),
      start: new ThreadStart(() => {
        if (startWithinMs === undefined) return noop;
        return this.#clock.after(startWithinMs, () => void this.#end(thread, 'starting'));
      }),
      isHeld: false,
      isSpare: false,
      stopTimer: noop,
      stopIdle: undefined,
    };
    worker.once('error', (error) => {
      cause = error;
    });
    worker.on('message', (message: FromThread<P>) => this.#onMessage(thread, message));
    this.#threads.push(thread);
    this.#keepAlive();
    if (this.#notice !== undefined) this.#notify(thread, this.#notice);
    return thread;
  }

  #notify(thread: Thread<P>, notice: P['notice']): void {
    thread.start.begin();
    this.#post(thread, { notice });
  }

  /** Handles a thread's report about its start. */
  #onReady({ start, tasks }: Thread<P>, isReady: boolean): void {
    if (!isReady) return start.begin();
    start.done();
    // Their time limits count only from here.
    for (const task of tasks.values()) task.restartLimit();
  }

  /** Withdraws a job that its thread has not begun. */
  #withdraw(thread: Thread<P>, task: Task<P>): void {
    thread.tasks.delete(task.id);
    this.#post(thread, { withdrawn: task.id });
    if (thread.tasks.size === 0) this.#rest(thread);
    this.#next();
  }

  #post({ worker }: Thread<P>, message: ToThread<P>): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a Worker has none
    worker.postMessage(message);
  }

  #onMessage(thread: Thread<P>, message: FromThread<P>): void {
    if (!this.#threads.includes(thread)) return;
    if ('event' in message) return this.#options.onEvent?.(message.event, thread.number);
    if ('ready' in message) return this.#onReady(thread, message.ready);
    const task = thread.tasks.get(message.id);
    if (task === undefined) return;
    if ('part' in message) return task.onPart?.(message.part);
    this.#deaths = 0;
    thread.tasks.delete(message.id);
    task.finish(endOf<P>(message));
    if (thread.tasks.size === 0) this.#rest(thread);
    this.#next();
  }

  /** Marks a thread as idle. One other than the oldest ends when it is not needed for long. */
  #rest(thread: Thread<P>): void {
    const { idleMs } = this.#options;
    thread.stopTimer();
    thread.isHeld = false;
    this.#keepAlive();
    if (thread.isSpare) return this.#endSpare(thread);
    if (idleMs === undefined) return;
    thread.stopIdle ??= this.#clock.after(idleMs, () => {
      thread.isSpare = true;
      if (thread.tasks.size === 0) this.#endSpare(thread);
    });
  }

  #endSpare(thread: Thread<P>): void {
    if (thread === this.#threads[0]) this.#keep(thread);
    else void this.#end(thread, 'cancelled');
  }

  /** Marks a thread as needed: no older one could do its job. */
  #keep(thread: Thread<P>): void {
    thread.stopIdle?.();
    thread.stopIdle = undefined;
    thread.isSpare = false;
  }

  #threadOf(id: number): Thread<P> | undefined {
    return this.#threads.find(({ tasks }) => tasks.has(id));
  }

  /** Ends a thread and its jobs. Resolves when it is gone. */
  async #end(thread: Thread<P>, failed: JobFault): Promise<void> {
    const unfinished = this.#take(thread, undefined);
    const terminated = thread.worker.terminate();
    for (const task of unfinished) task.finish({ failed });
    // Otherwise a job whose limit is shorter than a thread's start would end each new one.
    if (this.#notice !== undefined) this.start();
    if (!this.#isClosed) this.#next();
    await terminated;
  }

  #onExit(thread: Thread<P>, cause: Error | undefined): void {
    if (!this.#threads.includes(thread)) return;
    const unfinished = this.#take(thread, cause);
    if (this.#options.isRepeatable === true) this.#queue.putBack(unfinished);
    else
      for (const task of unfinished)
        task.finish({ failed: 'died', cause, atStart: !thread.start.isLoaded });
    if (this.#isClosed) return;
    if (this.#options.restartAfterMs === undefined) return this.#next();
    const delayMs = this.#options.restartAfterMs(this.#deaths++);
    this.#stopRestart = this.#clock.after(delayMs, () => {
      this.#stopRestart = undefined;
      this.#start();
      this.#next();
    });
  }

  /** Removes a thread, and returns the jobs it had. */
  #take(thread: Thread<P>, cause: Error | undefined): Task<P>[] {
    thread.stopTimer();
    thread.start.stop();
    thread.stopIdle?.();
    this.#threads = this.#threads.filter((other) => other !== thread);
    this.#queue.forget(thread);
    const unfinished = [...thread.tasks.values()];
    thread.tasks.clear();
    this.#options.onGone?.(thread.number, cause);
    return unfinished;
  }

  /**
   * Updates which threads keep the process alive; skipped during shutdown, which awaits their end.
   */
  #keepAlive(): void {
    if (this.#isClosed) return;
    const { keepsAlive = true } = this.#options;
    for (const { worker, tasks } of this.#threads) {
      if (this.#holds > 0 || (keepsAlive && tasks.size > 0)) worker.ref();
      else worker.unref();
    }
  }
}
