/**
 * Worker threads that do jobs: the one pool behind compression, the index, the ledger and captures.
 * Threads start when there is work for them, and jobs of one affinity go to the same one. A job
 * whose time runs out while it is worked on ends its thread, and so does the cancelled signal of
 * a job without a time limit. The jobs behind it go to another thread, also when a thread dies.
 * A thread that is starting is not ended for a job: else none would ever be ready where a start
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
   * Time spent waiting included, for a thread that is starting as well; begins again when that
   * thread is ready. 0 (default): no limit.
   */
  readonly timeoutMs?: number;
  readonly signal?: CancelSignal;
  readonly onPart?: (part: P['part']) => void;
  /** Jobs with the same word share much that the thread which had the last of them has at hand. */
  readonly affinity?: string;
}

interface Task<P extends Protocol> {
  readonly id: number;
  readonly job: P['job'];
  readonly onPart: ((part: P['part']) => void) | undefined;
  readonly finish: (end: JobEnd<P['result']>) => void;
  readonly affinity: string | undefined;
  /** True when it has waited for so long that it may have a thread of its own. */
  isOverdue: boolean;
  /** Stops what makes it overdue. */
  stopTimer: () => void;
  /** Gives it its whole time again. */
  readonly restartLimit: () => void;
}

interface Thread<P extends Protocol> {
  readonly number: number;
  readonly worker: Worker;
  readonly gone: Promise<void>;
  readonly tasks: Map<number, Task<P>>;
  readonly start: ThreadStart;
  /** True when what it works on takes so long that others may overtake it. */
  isHeld: boolean;
  /** True when the older threads have been enough for so long that it ends with its job. */
  isSpare: boolean;
  /** Stops what makes it held. */
  stopTimer: () => void;
  /** Stops what makes it spare; undefined where that is not due, since it is needed. */
  stopIdle: (() => void) | undefined;
}

const nothing = (): void => {};

export class WorkerPool<P extends Protocol> {
  readonly #options: PoolOptions<P>;
  readonly #clock: Clock;
  readonly #size: number;
  readonly #queue: JobQueue<Task<P>, Thread<P>>;
  /** Oldest first; the first free one gets a job, so that the others are idle when one is enough. */
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

  /** True when a job without an affinity would be begun at once. */
  get isFree(): boolean {
    return this.#threads.length === 0 || this.#queue.free(this.#threads) !== undefined;
  }

  get isRunning(): boolean {
    return this.#threads.length > 0;
  }

  /** True when a thread could work on a job at full speed, at once or after the job that it has. */
  get isReady(): boolean {
    return this.#threads.some(({ start }) => start.isReady);
  }

  get load(): PoolLoad {
    return {
      most: this.#size,
      threads: this.#threads.length,
      threadsAtWork: this.#threads.filter(({ tasks }) => tasks.size > 0).length,
      jobsWaiting: this.#queue.size,
    };
  }

  /** Does a job. Never rejects. */
  run(job: P['job'], options: JobOptions<P> = {}): Promise<JobEnd<P['result']>> {
    const { timeoutMs = 0, signal, onPart, affinity } = options;
    const { overtakeAfterMs = 0 } = this.#options;
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve({ failed: 'cancelled' });
    const id = this.#nextId++;
    return new Promise((resolve) => {
      let stopLimit = nothing;
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
        // What it is at is part of its start, and its result is kept for the next job.
        else if (thread !== undefined && fault === 'starting') return resolve({ failed: fault });
        else if (thread !== undefined) return void this.#end(thread, failed);
        this.#queue.remove(id);
        finish({ failed: fault });
      };
      const isStarting = (thread: Thread<P> | undefined): boolean =>
        (thread === undefined ? this.#threads : [thread]).some(({ start }) => !start.isReady);
      const onAbort = (): void => {
        // A job in work goes on within its time: another thread takes long to start, and the next turn may need the result.
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
        stopTimer: nothing,
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

  /** Starts a thread before there is work. */
  start(): void {
    if (this.#threads.length === 0 && !this.#isClosed) this.#start();
  }

  /** Sends `notice` to every thread, those that start later included, and starts one. */
  prepare(notice: P['notice']): void {
    const isNews = notice !== this.#notice;
    this.#notice = notice;
    if (this.#threads.length === 0) this.start();
    else if (isNews) for (const thread of this.#threads) this.#notify(thread, notice);
  }

  /** Until the returned function is called, once, the threads keep the process alive. */
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
   * Ends all threads. With `graceMs` they are given what waits and may finish it; what is not
   * done then, and all jobs to come, are cancelled.
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
    // The machine's own timer: a clock that a test holds still must not hold up the shutdown.
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(this.#threads.map(({ gone }) => gone)), isOver]);
    clearTimeout(timer);
  }

  /** Hands jobs to threads while that is possible. */
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
    this.#queue.given(task, thread);
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
      // Flags of the process, such as those of `node -e`, may not fit a thread.
      execArgv: [],
      ...(limits !== undefined && { resourceLimits: limits }),
    });
    let cause: Error | undefined;
    const thread: Thread<P> = {
      number: this.#nextId++,
      worker,
      gone: new Promise((resolve) => {
        worker.once('exit', () => {
          this.#onExit(thread, cause);
          resolve();
        });
      }),
      tasks: new Map(),
      start: new ThreadStart(() => {
        if (startWithinMs === undefined) return nothing;
        return this.#clock.after(startWithinMs, () => void this.#end(thread, 'starting'));
      }),
      isHeld: false,
      isSpare: false,
      stopTimer: nothing,
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

  /** Notes what a thread says about its start. */
  #onReady({ start, tasks }: Thread<P>, isReady: boolean): void {
    if (!isReady) return start.begin();
    start.done();
    // Only now their time counts.
    for (const task of tasks.values()) task.restartLimit();
  }

  /** Takes a job back that its thread has not begun. */
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

  /** Notes that a thread has nothing to do. Another than the oldest ends when it is not needed for long. */
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

  /** Notes that a thread is needed: no older one could do its job. */
  #keep(thread: Thread<P>): void {
    thread.stopIdle?.();
    thread.stopIdle = undefined;
    thread.isSpare = false;
  }

  #threadOf(id: number): Thread<P> | undefined {
    return this.#threads.find(({ tasks }) => tasks.has(id));
  }

  /** Ends a thread and the jobs it has. Resolves when it is gone. */
  async #end(thread: Thread<P>, failed: JobFault): Promise<void> {
    const left = this.#take(thread, undefined);
    const gone = thread.worker.terminate();
    for (const task of left) task.finish({ failed });
    // A job that has less time than a thread takes to begin would else end every one of them.
    if (this.#notice !== undefined) this.start();
    if (!this.#isClosed) this.#next();
    await gone;
  }

  #onExit(thread: Thread<P>, cause: Error | undefined): void {
    if (!this.#threads.includes(thread)) return;
    const left = this.#take(thread, cause);
    if (this.#options.isRepeatable === true) this.#queue.putBack(left);
    else
      for (const task of left)
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

  /** Takes a thread out, and from it the jobs that it had. */
  #take(thread: Thread<P>, cause: Error | undefined): Task<P>[] {
    thread.stopTimer();
    thread.start.stop();
    thread.stopIdle?.();
    this.#threads = this.#threads.filter((other) => other !== thread);
    this.#queue.forget(thread);
    const left = [...thread.tasks.values()];
    thread.tasks.clear();
    this.#options.onGone?.(thread.number, cause);
    return left;
  }

  /** A thread that is being ended is waited for, and nothing else may keep the process alive till then. */
  #keepAlive(): void {
    if (this.#isClosed) return;
    const { keepsAlive = true } = this.#options;
    for (const { worker, tasks } of this.#threads) {
      if (this.#holds > 0 || (keepsAlive && tasks.size > 0)) worker.ref();
      else worker.unref();
    }
  }
}
