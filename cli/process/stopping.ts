/** Stops the proxy of a home folder, and never another process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { readInstance, removeStale, runningInstance } from './daemon.ts';
import { counted, note } from '../screen/output.ts';
import { isRunning, signalProcess, startTimeOf } from './processes.ts';
import type { ProcessId } from './processes.ts';
import { controlIfRunning } from '../remote.ts';
import type { Json } from '../remote.ts';

/** A proxy may drain for 30 s and then closes its files. */
const DRAIN_MS = 35_000;
/** Time limit for a forced end before the process is killed. */
const FORCED_MS = 3000;
const POLL_MS = 50;
const REPORT_MS = 5000;

/**
 * Stops the proxy and waits until its process has ended; reports on stderr what it waits for.
 * Resolves with the stopped process, or undefined if none ran.
 */
export async function stopProxy(
  home: string,
  context: CliContext,
  force: boolean,
): Promise<ProcessId | undefined> {
  const status = await controlIfRunning(home, 'status').catch(() => undefined);
  const target = runningInstance(home) ?? targetOf(status);
  if (target === undefined) {
    if (readInstance(home) !== undefined) {
      removeStale(home);
      note(context, 'Removed the pid file that an earlier proxy left.');
    }
    return undefined;
  }
  await ask(home, target, status !== undefined, force);
  await waitUntilEnded(home, target, context, force);
  return target;
}

/** Identifies a proxy without a pid file, by its response on the socket. */
function targetOf(status: Json | undefined): ProcessId | undefined {
  const pid = status?.['pid'];
  if (typeof pid !== 'number' || pid === process.pid) return undefined;
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

async function ask(
  home: string,
  target: ProcessId,
  answers: boolean,
  force: boolean,
): Promise<void> {
  const answered = answers && (await controlIfRunning(home, 'stop').catch(() => undefined));
  if (answered === undefined || answered === false) signalProcess(target, 'SIGTERM');
  if (!force) return;
  // The second request makes the proxy stop without waiting.
  await sleep(POLL_MS);
  await controlIfRunning(home, 'stop').catch(() => undefined);
  signalProcess(target, 'SIGTERM');
}

async function waitUntilEnded(
  home: string,
  target: ProcessId,
  context: CliContext,
  force: boolean,
): Promise<void> {
  const { clock } = context;
  const startMs = clock.monotonicMs();
  let nextReportMs = startMs + 300;
  let lastReported = -1;
  while (isRunning(target)) {
    const nowMs = clock.monotonicMs();
    if (nowMs - startMs > (force ? FORCED_MS : DRAIN_MS)) return kill(target, context);
    if (nowMs >= nextReportMs) {
      const running = (await controlIfRunning(home, 'status').catch(() => undefined))?.['running'];
      if (typeof running === 'number' && running > 0 && running !== lastReported) {
        lastReported = running;
        note(
          context,
          `Waiting for ${counted(running, 'request')} (at most 30 s; --force does not wait)…`,
        );
      }
      nextReportMs = nowMs + (lastReported < 0 ? 300 : REPORT_MS);
    }
    await sleep(POLL_MS);
  }
}

async function kill(target: ProcessId, context: CliContext): Promise<void> {
  note(context, `Process ${target.pid} did not exit; killing it.`);
  signalProcess(target, 'SIGKILL');
  for (let polls = 0; isRunning(target); polls += 1) {
    if (polls > 40) throw new SvcError('internal', `Process ${target.pid} cannot be stopped`);
    await sleep(POLL_MS);
  }
}
