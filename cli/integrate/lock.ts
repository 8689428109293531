/**
 * Allows one `--apply` or `--undo` at a time: each reads a list and a file, and replaces both. The
 * lock is a file in the home folder with its owner's process id; the lock of a dead process is
 * taken over.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../engine/clock.ts';
import { SvcError } from '../../engine/error.ts';
import { createPrivateFile, ensureHome } from '../../server/config/home.ts';

const POLL_MS = 20;
/** The lock is normally held for a tenth of a second. */
const TIMEOUT_MS = 60_000;

/**
 * Runs `work` while no other process changes settings files for `home`.
 *
 * @throws SvcError `conflict` if another process does not finish.
 */
export async function withLock<T>(
  home: string,
  clock: Clock,
  work: () => T | Promise<T>,
): Promise<T> {
  const isNew = !fs.existsSync(home);
  const path = join(home, 'integrations.lock');
  const own = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
  const untilMs = clock.monotonicMs() + TIMEOUT_MS;
  while (!takeLock(home, path, own)) {
    if (clock.monotonicMs() > untilMs)
      throw new SvcError('conflict', 'Another command is changing the settings of clients', {
        cure: `Try again when it has ended. If none runs, remove ${path}.`,
      });
    await new Promise<void>((resolve) => void setTimeout(resolve, POLL_MS));
  }
  try {
    return await work();
  } finally {
    if (textOf(path) === own) fs.rmSync(path, { force: true });
    if (isNew) removeIfEmpty(home);
  }
}

function takeLock(home: string, path: string, own: string): boolean {
  ensureHome(home);
  try {
    createPrivateFile(path, own);
    return true;
  } catch (thrown) {
    // The folder has disappeared: the process that created it has just ended.
    if (!fs.existsSync(home)) return false;
    if (!(thrown instanceof SvcError) || thrown.kind !== 'conflict') throw thrown;
  }
  const held = textOf(path);
  if (held !== undefined && isStale(held)) moveAway(path, held);
  return false;
}

/** True for a lock whose process no longer runs. An empty lock is being written. */
function isStale(text: string): boolean {
  const pid = Number(/^(\d+) /.exec(text)?.[1]);
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * A rename succeeds for only one process. If another was faster and this one took a newer lock, it
 * is put back.
 */
function moveAway(path: string, held: string): void {
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    fs.renameSync(path, aside);
    if (textOf(aside) !== held) fs.linkSync(aside, path);
  } catch {
    // Another process has taken it over.
  } finally {
    fs.rmSync(aside, { force: true });
  }
}

function textOf(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // It is not empty.
  }
}
