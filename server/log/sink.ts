/**
 * Destinations of log lines: a file that is rotated daily and by size and kept for some days, or a
 * stream. A failing log never stops the proxy: lines are counted as dropped instead.
 */
import { chmod, lstat, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Clock } from '../../engine/clock.ts';
import { moveUnreadable } from '../../stages/move-aside.ts';

/** A file by its path, or a stream such as `process.stdout`, which is never closed. */
export type LogDestination =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream'; readonly stream: Writable };

export interface LogSink {
  write(line: string): void;
  /** Lines that could not be written. */
  readonly dropped: number;
  /** Resolves when all written lines have left the process. */
  close(): Promise<void>;
}

export interface SinkOptions {
  readonly destination: LogDestination;
  readonly retentionDays: number;
  readonly clock: Clock;
  /** Default 32 MiB. */
  readonly rotateAtBytes?: number;
}

const ROTATE_AT_BYTES = 32 * 1024 * 1024;
// Memory limit while the disk or terminal is stuck.
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;

/** Opens the destination. A file's folder is created with mode 0700, the file with 0600. */
export async function openSink(options: SinkOptions): Promise<LogSink> {
  const { destination } = options;
  if (destination.kind === 'stream') return sinkTo(destination.stream, () => Promise.resolve());
  const { path } = destination;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // The log library opens the file by name, so it must not be a link planted by someone else.
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink() === true) moveUnreadable(path, options.clock.wallMs());
  await chmod(path, 0o600).catch(() => undefined);
  const { createStream } = await import('rotating-file-stream');
  const stream = createStream((time, index) => rotatedName(path, time, index), {
    path: dirname(path),
    interval: '1d',
    intervalBoundary: true,
    intervalUTC: true,
    // A file left from an earlier day is rotated at once.
    initialRotation: true,
    size: `${options.rotateAtBytes ?? ROTATE_AT_BYTES}B`,
    mode: 0o600,
  });
  const purge = () => purgeOld(path, options.clock.wallMs() - options.retentionDays * DAY_MS);
  stream.on('rotated', () => void purge());
  // Attached at once: the stream is opening its file, and an unhandled failure would end the
  // process.
  const sink = sinkTo(stream, () => {
    return new Promise<void>((resolve) => {
      const done = () => resolve();
      stream.once('close', done);
      stream.once('error', done);
      stream.end(done);
    });
  });
  await purge();
  return sink;
}

function sinkTo(stream: Writable, close: () => Promise<void>): LogSink {
  let dropped = 0;
  let isBroken = false;
  const onError = () => {
    isBroken = true;
  };
  stream.on('error', onError);
  return {
    get dropped() {
      return dropped;
    },
    write(line) {
      if (isBroken || stream.writableLength > MAX_PENDING_BYTES) dropped += 1;
      else stream.write(line);
    },
    async close() {
      await close();
      stream.off('error', onError);
    },
  };
}

/** Formats `svc.log` → `svc-20260131-00.log`, UTC; without a time, the live file's own name. */
function rotatedName(path: string, time: number | Date | null, index = 0): string {
  const name = basename(path);
  if (time === null) return name;
  const day = new Date(time).toISOString().slice(0, 10).replaceAll('-', '');
  const [stem, extension] = splitName(name);
  return `${stem}-${day}-${String(index).padStart(2, '0')}${extension}`;
}

async function purgeOld(path: string, beforeMs: number): Promise<void> {
  const [stem, extension] = splitName(basename(path));
  const folder = dirname(path);
  const isRotated = (name: string) => {
    if (!name.startsWith(`${stem}-`) || !name.endsWith(extension)) return false;
    return /^\d{8}-\d{2,}$/.test(name.slice(stem.length + 1, name.length - extension.length));
  };
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(isRotated)) {
    const file = join(folder, name);
    const stats = await stat(file).catch(() => undefined);
    // Failing to remove an old file must not stop logging.
    if (stats !== undefined && stats.mtimeMs < beforeMs) await unlink(file).catch(() => undefined);
  }
}

function splitName(name: string): [stem: string, extension: string] {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
}
