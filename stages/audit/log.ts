/**
 * The audit log of a running process. `add` puts an event into a bounded queue and returns; the
 * queue is written in batches, under the lock, so that a user's commands and a proxy append to one
 * chain.
 */
import { SvcError, toSvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { isDiskFault, reasonOf } from '../disk-reason.ts';
import { appendEvents } from './append.ts';
import type { KnownLog } from './append.ts';
import type { AuditFiles } from './files.ts';
import type { AuditEvent } from './record.ts';

/** How long an event waits at most for others to be written with it. */
const BATCH_DELAY_MS = 100;
/** Events written at once. Sealing one takes about 10 µs, and this thread also serves streams. */
const BATCH_EVENTS = 256;
const MAX_QUEUED = 10_000;
const RETRY_MS = 1000;
const LOCK_MS = 5000;
/** How long `close` waits at most for an unresponsive disk. */
const CLOSE_MS = 2000;

export interface AuditLogOptions {
  readonly files: AuditFiles;
  readonly clock: Clock;
  /** Called once for each fault, until it is resolved. */
  readonly onProblem: (error: SvcError) => void;
  readonly maxQueued?: number;
}

/** Runs `work` under the lock of all processes that write this log. */
export async function withAuditLock<T>(files: AuditFiles, work: () => Promise<T>): Promise<T> {
  const { underLock } = await import('../lock.ts');
  return underLock(files.lock, work, { timeoutMs: LOCK_MS });
}

/** Converts an error of the disk to one that names the file. */
function toProblem(thrown: unknown, { log }: AuditFiles): SvcError {
  if (!isDiskFault(thrown)) return toSvcError(thrown);
  const message = `${thrown.path ?? log} cannot be written: ${reasonOf(thrown)}`;
  return new SvcError('internal', message, { cause: thrown });
}

/** The audit log of a process, which starts disabled. It touches no file before its first event. */
export class AuditLog {
  isEnabled = false;
  readonly #options: AuditLogOptions;
  #queue: AuditEvent[] = [];
  #writing: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #known: KnownLog | undefined;
  #written = 0;
  #dropped = 0;
  /** Dropped events that no record reports yet. */
  #unreported = 0;
  #problem: SvcError | undefined;
  #isClosed = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** Enables or disables the log; disabling is itself recorded. */
  enable(isEnabled: boolean): void {
    if (isEnabled === this.isEnabled) return;
    this.isEnabled = true;
    this.add({ kind: 'audit', event: isEnabled ? 'enabled' : 'disabled', details: {} });
    this.isEnabled = isEnabled;
  }

  /** Takes an event and returns at once; never throws. Does nothing while disabled. */
  add(event: Omit<AuditEvent, 'atMs'>): void {
    if (!this.isEnabled || this.#isClosed) return;
    const { clock, maxQueued = MAX_QUEUED } = this.#options;
    if (this.#queue.length >= maxQueued) {
      this.#dropped += 1;
      this.#unreported += 1;
      return;
    }
    const { kind, event: name, details } = event;
    this.#queue.push({ atMs: clock.wallMs(), kind, event: name, details });
    this.#schedule(BATCH_DELAY_MS);
  }

  #schedule(delayMs: number): void {
    if (this.#writing !== undefined || this.#isClosed) return;
    this.#cancelTimer ??= this.#options.clock.after(delayMs, () => {
      this.#cancelTimer = undefined;
      void this.#write();
    });
  }

  #write(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#queue.length > 0) this.#schedule(this.#problem ? RETRY_MS : BATCH_DELAY_MS);
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { files } = this.#options;
    try {
      while (this.#queue.length > 0)
        await withAuditLock(files, async () => {
          const batch = this.#queue.slice(0, BATCH_EVENTS);
          const unreported = this.#unreported;
          const all = unreported === 0 ? batch : [...batch, this.#droppedEvent(unreported)];
          this.#known = await appendEvents(files, all, this.#known);
          this.#queue.splice(0, batch.length);
          this.#unreported -= unreported;
          this.#written += batch.length;
        });
      this.#problem = undefined;
    } catch (thrown) {
      this.#known = undefined;
      const error = toProblem(thrown, files);
      if (this.#problem?.message !== error.message) this.#options.onProblem(error);
      this.#problem = error;
    }
  }

  #droppedEvent(records: number): AuditEvent {
    const atMs = this.#options.clock.wallMs();
    return { atMs, kind: 'audit', event: 'dropped', details: { records } };
  }

  /** Resolves when everything added is on disk, or one attempt to write it has failed. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#queue.length > 0) await this.#write();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([this.flush(), late]);
    this.#isClosed = true;
    this.#cancelTimer?.();
  }

  stats() {
    return {
      written: this.#written,
      queued: this.#queue.length,
      /** Events missing from the log; a record in it says how many. */
      dropped: this.#dropped,
      problem: this.#problem,
    };
  }
}
