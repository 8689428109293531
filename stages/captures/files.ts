/**
 * The capture files in a folder of the home: one for every start of a proxy, and another when it is
 * too large or an hour old, so that retention deletes whole files. A process never appends to a
 * file of another start, so a record cut short by a crash is always the last.
 */
import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../engine/index.ts';
import { reasonOf } from '../disk-reason.ts';

/** `on` records a request, `off` does not, whatever `capture.enabled` says. */
export const CAPTURE_HEADER = 'x-svc-capture';

const NAME = /^\d{13}-\d+-\d+\.msgpack$/;

/** Returns true for the name of a file that may contain captures, even if it was renamed. */
export const isCaptureFile = (path: string): boolean => path.endsWith('.msgpack');

/** The folder of a home. */
export function captureFolder(home: string): string {
  return join(home, 'captures');
}

/** Returns the path of the `count`th file of a process that started at `atMs`. */
export function captureFile(folder: string, atMs: number, pid: number, count: number): string {
  return join(folder, `${String(Math.floor(atMs)).padStart(13, '0')}-${pid}-${count}.msgpack`);
}

/**
 * Returns the files in `folder`, oldest first; none if it does not exist. `changedMs` is when the
 * last record was written, in milliseconds since the epoch.
 */
export function captureFiles(folder: string) {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
  return names
    .filter((name) => NAME.test(name))
    .toSorted()
    .flatMap((name) => {
      const path = join(folder, name);
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) return [];
      return [{ path, sizeBytes: found.size, changedMs: found.mtimeMs }];
    });
}

/** Limits of size and age. */
export interface CaptureLimits {
  readonly maxBytes: number;
  readonly retentionMs: number;
}

/**
 * Deletes files older than the limit, and the oldest while all together exceed `maxBytes`; never
 * `current`. Returns the total bytes of the remaining ones.
 */
export function pruneCaptures(
  folder: string,
  { maxBytes, retentionMs }: CaptureLimits,
  nowMs: number,
  current?: string,
): number {
  const files = captureFiles(folder);
  let sum = files.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
  for (const { path, sizeBytes, changedMs } of files) {
    if (path === current) continue;
    if (sum <= maxBytes && nowMs - changedMs <= retentionMs) continue;
    rmSync(path, { force: true });
    sum -= sizeBytes;
  }
  return sum;
}

/**
 * Returns the bytes of a file; no link is followed.
 *
 * @throws SvcError `not_found`, or `bad_request` if it cannot be read.
 */
export function readCaptureFile(path: string): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return readFileSync(fd);
  } catch (cause) {
    const isGone = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    if (isGone) throw new SvcError('not_found', `There is no file ${path}`, { cause });
    throw new SvcError('bad_request', `${path} cannot be read: ${reasonOf(cause)}`, { cause });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
