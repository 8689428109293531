/** The thread's side of a pool: a thread's module calls this to receive jobs. */
import { parentPort, workerData } from 'node:worker_threads';
import { isSvcError } from '../../engine/index.ts';
import type { FromThread, JobFailure, Protocol, ToThread } from './messages.ts';

export interface JobServer<P extends Protocol> {
  /** Runs a job; `report` sends intermediate results. If it throws, only this job fails. */
  run(job: P['job'], report: (part: P['part']) => void): P['result'] | PromiseLike<P['result']>;
  /** Prepares for expected jobs; until it is done the thread counts as starting. */
  prepare?(notice: P['notice']): void | PromiseLike<void>;
  /** Called after the last job; must finish outstanding work and then end the thread. */
  close?(): void;
}

export interface JobPort<P extends Protocol> {
  /** Sends a report that belongs to no job. */
  emit(event: P['event']): void;
  /** Counts the thread as starting until `work` is done: no time limit of a job ends it. */
  whileStarting<T>(work: PromiseLike<T>): Promise<T>;
  /** Ends the thread once everything reported so far is sent. */
  end(): void;
}

/** Serves the pool that started this thread; `create` builds the server from the thread's data. */
export function serveJobs<P extends Protocol, Data>(
  create: (data: Data, port: JobPort<P>) => JobServer<P>,
): void {
  const post = (message: FromThread<P>): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a MessagePort has none
    parentPort?.postMessage(message);
  };
  const port: JobPort<P> = {
    emit: (event) => post({ event }),
    async whileStarting(work) {
      post({ ready: false });
      try {
        return await work;
      } finally {
        post({ ready: true });
      }
    },
    end: () => void setImmediate(() => parentPort?.close()),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by the pool
  const server = create(workerData as Data, port);
  const waiting = new Set<number>();
  post({ ready: true });
  const work = async (id: number, job: P['job']): Promise<void> => {
    try {
      const result = await server.run(job, (part) => post({ id, part }));
      post({ id, result });
    } catch (thrown) {
      post({ id, failure: toFailure(thrown) });
    }
  };
  const prepare = async (notice: P['notice']): Promise<void> => {
    try {
      await server.prepare?.(notice);
    } finally {
      post({ ready: true });
    }
  };
  // Deferred by a tick, so that a job that arrived while this module was loading can be withdrawn.
  const later = (id: number, job: P['job']): void => {
    waiting.add(id);
    setImmediate(() => {
      if (waiting.delete(id)) void work(id, job);
    });
  };
  parentPort?.on('message', (message: ToThread<P>) => {
    if ('notice' in message) void prepare(message.notice);
    else if ('close' in message) setImmediate(() => server.close?.());
    else if ('withdrawn' in message) waiting.delete(message.withdrawn);
    else later(message.id, message.job);
  });
}

function toFailure(thrown: unknown): JobFailure {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!isSvcError(thrown)) return { kind: 'internal', message };
  const { kind, code, cure } = thrown;
  return {
    kind,
    message,
    ...(code !== undefined && { code }),
    ...(cure !== undefined && { cure }),
  };
}
