/** The far side of a pool: what a thread's own module calls to be given jobs. */
import { parentPort, workerData } from 'node:worker_threads';
import { isSvcError } from '../../engine/index.ts';
import type { FromThread, JobFailure, Protocol, ToThread } from './messages.ts';

export interface JobServer<P extends Protocol> {
  /** Does a job; `report` gives away what is known of it before the end. What it throws fails the job alone. */
  run(job: P['job'], report: (part: P['part']) => void): P['result'] | PromiseLike<P['result']>;
  /** Gets ready for what is expected; until then the thread is starting. */
  prepare?(notice: P['notice']): void | PromiseLike<void>;
  /** No job comes after this; what is left is to be finished, and then the thread ended. */
  close?(): void;
}

export interface JobPort<P extends Protocol> {
  /** Reports what nobody asked for. */
  emit(event: P['event']): void;
  /** Until `work` is done the thread counts as starting: no time limit of a job ends it. */
  whileStarting<T>(work: PromiseLike<T>): Promise<T>;
  /** Ends the thread when what was reported until now is on its way. */
  end(): void;
}

/** Serves the pool that started this thread with what `create` makes of the data it was given. */
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
  // A turn later, so that a job that came while this module was loaded can be withdrawn.
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
