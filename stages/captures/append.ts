/**
 * Appends records to the files of one process, and deletes files beyond the limits of age and size.
 */
import { closeSync, constants, existsSync, fchmodSync, openSync, writeSync } from 'node:fs';
import { SvcError } from '../../engine/index.ts';
import { makePrivateDir } from '../private-file.ts';
import { encodeRecord } from './encode.ts';
import { captureFile, pruneCaptures } from './files.ts';
import type { CaptureLimits } from './files.ts';
import type { CaptureRecord } from './record.ts';
import { scrubRecord } from './scrub.ts';
import type { CaptureSecrets } from './scrub.ts';

const MEBIBYTE = 1024 * 1024;
const LARGEST_FILE_BYTES = 16 * MEBIBYTE;
const FILE_AGE_MS = 3600 * 1000;
/** How often the folder is read: other proxies also write to it, and files get old. */
const SCAN_INTERVAL_MS = 1000;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

interface OpenFile {
  readonly path: string;
  readonly fd: number;
  readonly openedMs: number;
  sizeBytes: number;
}

/** Opens no file before the first record. */
export function openAppender(folder: string, nowMs: () => number) {
  let current: OpenFile | undefined;
  let count = 0;
  /** Bytes of all files at the last count, plus what was appended since. */
  let folderBytes = Infinity;
  let scannedMs = 0;

  function close(): void {
    if (current !== undefined) closeSync(current.fd);
    current = undefined;
  }

  function fileFor(sizeBytes: number, limits: CaptureLimits): OpenFile {
    const largest = Math.min(LARGEST_FILE_BYTES, limits.maxBytes / 4);
    const isOver =
      current !== undefined &&
      (current.sizeBytes + sizeBytes > largest || nowMs() - current.openedMs > FILE_AGE_MS);
    // `svc replay clear` may delete it under a running proxy.
    if (isOver || (current !== undefined && !existsSync(current.path))) close();
    if (current !== undefined) return current;
    makePrivateDir(folder);
    count += 1;
    const path = captureFile(folder, nowMs(), process.pid, count);
    const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    fchmodSync(fd, 0o600);
    current = { path, fd, openedMs: nowMs(), sizeBytes: 0 };
    return current;
  }

  /**
   * Reads the folder, which may hold one file for each start of a proxy, only when the limits may
   * matter.
   */
  function prune(limits: CaptureLimits, path: string): void {
    const isRecent = Math.abs(nowMs() - scannedMs) < SCAN_INTERVAL_MS;
    if (folderBytes <= limits.maxBytes && isRecent) return;
    folderBytes = pruneCaptures(folder, limits, nowMs(), path);
    scannedMs = nowMs();
  }

  return {
    /**
     * Scrubs, encodes and writes a record. Throws the error of the file system, and `unprocessable`
     * for a record that must not or cannot be stored.
     */
    async append(
      record: CaptureRecord,
      secrets: CaptureSecrets,
      limits: CaptureLimits,
    ): Promise<void> {
      const bytes = encodeRecord(await scrubRecord(record, secrets));
      if (bytes.length > limits.maxBytes)
        throw new SvcError('unprocessable', 'it is larger than capture.max_mb');
      const file = fileFor(bytes.length, limits);
      // A partial record would make every later one unreadable.
      try {
        for (let at = 0; at < bytes.length;) at += writeSync(file.fd, bytes, at);
      } catch (thrown) {
        close();
        throw thrown;
      }
      file.sizeBytes += bytes.length;
      folderBytes += bytes.length;
      prune(limits, file.path);
    },
    close,
  };
}
