/**
 * Follows the log and appends to it.
 *
 * A follower knows how far it has read. Appending takes the append lock, lets the follower catch up
 * with other processes' records, and writes after the last whole record, overwriting the torn end
 * left by a killed process. So every append sees all earlier ones, and a reader that finds an
 * unfinished record waits for the rest.
 */
import { ftruncateSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SvcError } from '../../../engine/error.ts';
import type { Lock } from '../../lock.ts';
import { createBreather } from '../breather.ts';
import { isStartOfLog } from './owner.ts';
import { encodeNotice, FORMAT, nextRecord, parseRecord, type Framed } from './record.ts';

const READ_BYTES = 262_144;
const LAST_READ_BYTES = 4_096;
/** Appends are short; a longer wait means that the other process has hung. */
const APPEND_WAIT_MS = 30_000;

/** Receiver of a follower's records. */
export interface LogSink {
  /** Drops everything: the log with this id is read from its start. */
  reset(logId: string): void;
  /**
   * Receives a record; its parts are in `buffer`, and `base` is the file offset of the buffer's
   * start.
   */
  apply(framed: Framed, buffer: Buffer, base: number): void;
  /**
   * Everything before `offset` has been applied. Called occasionally, and once at the end with
   * `last`.
   */
  reached?(offset: number, last: boolean): void;
}

/**
 * How reading ended. `torn`: the last whole record is followed by the start of another. `corrupt`:
 * the bytes at the follower's offset are not a record. `outdated`: the log was written by an older
 * or newer version. `missing`: there is no log, or an empty one.
 */
export type LogState = 'clean' | 'torn' | 'corrupt' | 'outdated' | 'missing';

/** A position in a log. */
export interface LogPosition {
  readonly logId: string;
  readonly offset: number;
}

/**
 * Follows the log at `path`, which may not exist yet. `from` continues where an earlier follower
 * stopped.
 */
export class LogFollower {
  readonly #path: string;
  readonly #sink: LogSink;
  #from: LogPosition | undefined;
  #handle: FileHandle | undefined;
  #inode = 0n;
  #id = '';
  #offset = 0;
  #readTo = 0;

  constructor(path: string, sink: LogSink, from?: LogPosition) {
    this.#path = path;
    this.#sink = sink;
    this.#from = from;
  }

  /** End of the last applied record. */
  get offset(): number {
    return this.#offset;
  }

  /** Descriptor of the log that the sink reflects; undefined before there is one. */
  get fd(): number | undefined {
    return this.#handle?.fd;
  }

  /** Returns true if the file has changed since `catchUp`; needs only one `stat`. */
  isBehind(): boolean {
    const now = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    if (now === undefined) return this.#handle !== undefined;
    if (this.#handle === undefined) return true;
    return now.ino !== this.#inode || now.size !== BigInt(this.#readTo);
  }

  /** Applies records appended since, from the start if the log was replaced. */
  async catchUp(): Promise<LogState> {
    const now = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    const same = now?.ino === this.#inode && now.size >= BigInt(this.#offset);
    if (this.#handle === undefined || !same || this.#offset === 0 || !(await this.#isSameLog())) {
      const opened = await this.#open();
      if (opened !== 'clean') return opened;
    }
    const read = await scan(this.#handle!, this.#offset, this.#sink);
    this.#offset = read.offset;
    this.#readTo = read.size;
    return read.state;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#offset = 0;
  }

  /** Returns false when the log was overwritten in place, by another log or anything else. */
  async #isSameLog(): Promise<boolean> {
    const header = await readHeader(this.#handle!);
    return typeof header === 'object' && header.id === this.#id;
  }

  /** Starts over with the log that is at the path now. */
  async #open(): Promise<LogState> {
    await this.close();
    const from = this.#from;
    this.#from = undefined;
    const next = await openIfThere(this.#path);
    if (next === undefined) {
      this.#sink.reset('');
      return 'missing';
    }
    this.#handle = next;
    const { ino, size } = await next.stat({ bigint: true });
    this.#inode = ino;
    const first = await readHeader(next);
    if (typeof first === 'string') return first;
    this.#id = first.id;
    if (from?.logId === first.id && BigInt(from.offset) <= size) this.#offset = from.offset;
    else this.#sink.reset(first.id);
    return 'clean';
  }
}

/** Parameters of an append; `newLogId` creates the id of a log that it starts. */
export interface AppendTarget {
  readonly path: string;
  readonly lock: Lock;
  readonly newLogId: () => string;
}

/**
 * Appends the result of `make`, which runs under the lock, with the follower at the end of the log,
 * and may throw to append nothing. When the promise resolves, the records are on disk if `durable`
 * was set. The follower has not read them yet.
 */
export async function append(
  target: AppendTarget,
  follower: Pick<LogFollower, 'offset' | 'catchUp'>,
  make: () => readonly Buffer[],
  durable: boolean,
): Promise<void> {
  const work = async (): Promise<void> => {
    const state = await follower.catchUp();
    if (state === 'corrupt' || state === 'outdated') throw brokenLogError(state);
    const records = [...make()];
    if (records.length === 0) return;
    if (follower.offset === 0) records.unshift(startOfLog(target.newLogId()));
    await writeAt(target.path, follower.offset, records, durable);
  };
  await target.lock.during(work, { timeoutMs: APPEND_WAIT_MS });
}

/** Returns the error for an unreadable log. */
export function brokenLogError(state: LogState): SvcError {
  return new SvcError('unavailable', `The vault index is ${state}`, {
    cure: 'Run `svc vault-health repair`.',
  });
}

/** Returns the first record of a log. */
export function startOfLog(id: string): Buffer {
  return encodeNotice({ record: 'log', format: FORMAT, id });
}

/** Makes a new or renamed name in `dir` durable. */
export async function syncDir(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAt(
  path: string,
  offset: number,
  records: readonly Buffer[],
  durable: boolean,
): Promise<void> {
  if (offset === 0) await (await open(path, 'a', 0o600)).close();
  const handle = await open(path, 'r+');
  try {
    if (offset === 0) await handle.chmod(0o600);
    ftruncateSync(handle.fd, offset);
    const bytes = Buffer.concat(records);
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, offset + done);
      done += bytesWritten;
    }
    if (durable) await handle.datasync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') ftruncateSync(handle.fd, offset);
    throw error;
  } finally {
    await handle.close();
  }
  if (offset === 0 && durable) await syncDir(dirname(path));
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readHeader(handle: FileHandle): Promise<{ id: string } | LogState> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
  if (bytesRead === 0) return 'missing';
  const parsed = parseRecord(buffer.subarray(0, bytesRead), 0);
  // Only the torn start of a log may be overwritten.
  const isTorn = bytesRead < 4096 && isStartOfLog(buffer.subarray(0, bytesRead));
  if (parsed === 'incomplete') return isTorn ? 'missing' : 'corrupt';
  if (parsed === 'corrupt' || parsed.header.record !== 'log') return 'corrupt';
  return parsed.header.format === FORMAT ? { id: parsed.header.id } : 'outdated';
}

async function scan(
  handle: FileHandle,
  from: number,
  sink: LogSink,
): Promise<{ offset: number; size: number; state: LogState }> {
  const breathe = createBreather();
  let offset = from;
  let buffer = Buffer.alloc(0);
  let readBytes = READ_BYTES;
  for (;;) {
    const chunk = Buffer.allocUnsafe(readBytes);
    const { bytesRead } = await handle.read(chunk, 0, readBytes, offset + buffer.length);
    const size = offset + buffer.length + bytesRead;
    const read = chunk.subarray(0, bytesRead);
    buffer = buffer.length === 0 ? read : Buffer.concat([buffer, read]);
    const base = offset;
    let parsed = parseRecord(buffer, 0);
    while (typeof parsed === 'object') {
      if (parsed.header.record !== 'log') sink.apply(parsed, buffer, base);
      offset = base + parsed.end;
      await breathe();
      parsed = parseRecord(buffer, parsed.end);
    }
    sink.reached?.(offset, parsed === 'corrupt' || bytesRead === 0);
    buffer = buffer.subarray(offset - base);
    if (parsed === 'corrupt') return { offset, size, state: 'corrupt' };
    if (bytesRead === 0) {
      const broken = nextRecord(buffer, 1) !== -1;
      return { offset, size, state: buffer.length === 0 ? 'clean' : broken ? 'corrupt' : 'torn' };
    }
    // After a short read little more is expected, though only an empty one proves the end.
    readBytes = bytesRead < readBytes ? LAST_READ_BYTES : Math.max(READ_BYTES, buffer.length);
  }
}
