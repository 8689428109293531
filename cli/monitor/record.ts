/**
 * The file that marks a port as used by this home folder's monitor. A starting proxy needs the same
 * port, so the monitor exits as soon as a proxy has claimed the folder, and the proxy waits for
 * that.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../engine/clock.ts';
import { ensureHome, writePrivateFile } from '../../server/config/home.ts';
import { isRunning, startTimeOf } from '../process/processes.ts';
import type { ProcessId } from '../process/processes.ts';

/** Longest wait of a proxy, and its polling interval. */
const WAIT_MS = 3000;
const POLL_MS = 20;

function recordFile(home: string): string {
  return join(home, 'monitor.pid');
}

/** Writes the file; the returned function removes it. */
export function recordMonitor(home: string): () => void {
  ensureHome(home);
  const own: ProcessId = { pid: process.pid, startTime: startTimeOf(process.pid) ?? '' };
  writePrivateFile(recordFile(home), JSON.stringify(own));
  return () => {
    if (readRecord(home)?.pid === own.pid) rmSync(recordFile(home), { force: true });
  };
}

/** Resolves once no monitor of this home folder uses a port any more, or after `WAIT_MS`. */
export async function monitorGone(home: string, clock: Clock): Promise<void> {
  const untilMs = clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const monitor = readRecord(home);
    if (monitor === undefined || !isRunning(monitor) || clock.monotonicMs() > untilMs) return;
    await setTimeout(POLL_MS);
  }
}

function readRecord(home: string): ProcessId | undefined {
  try {
    const value = JSON.parse(readFileSync(recordFile(home), 'utf8')) as Partial<ProcessId> | null;
    const { pid, startTime } = value ?? {};
    return typeof pid === 'number' && typeof startTime === 'string'
      ? { pid, startTime }
      : undefined;
  } catch {
    return undefined;
  }
}
