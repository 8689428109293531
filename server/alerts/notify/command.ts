/** Runs a command for an alert, with the alert as JSON on its standard input. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../../engine/index.ts';
import type { Variables } from '../../config/env.ts';
import type { Notice } from './notice.ts';
import type { CommandTarget } from './targets.ts';
import { toDelivery, failedDelivery } from './webhook.ts';
import type { Delivery } from './webhook.ts';

/** Longest that a command may run before it is killed. */
export const COMMAND_MS = 20_000;

/** Variables that a program needs to run at all; the others may contain provider keys. */
const PASSED_ON = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

export interface CommandOptions {
  readonly clock: Clock;
  readonly env: Variables;
  readonly home: string;
}

/**
 * Starts the command once, in the home folder. Exit code 0 means delivered; other codes are not
 * retried, since the command may already have had an effect. Never rejects.
 */
export function runCommand(
  { argv }: CommandTarget,
  notice: Notice,
  { clock, env, home }: CommandOptions,
): Promise<Delivery> {
  return new Promise((resolve) => {
    const child = start(argv, notice, env, home);
    if (child instanceof Error) return resolve(notStarted(child));
    let isLate = false;
    const stopWaiting = clock.after(COMMAND_MS, () => {
      isLate = true;
      endGroup(child.pid);
    });
    const end = (delivery: Delivery) => {
      stopWaiting();
      resolve(delivery);
    };
    child.on('error', (error: NodeJS.ErrnoException) => end(notStarted(error)));
    child.on('exit', (code, signal) => {
      if (isLate) end(failedDelivery(`not finished in ${COMMAND_MS / 1000} s, ended`, false));
      else if (code === 0) end(toDelivery('exit code 0'));
      else end(failedDelivery(code === null ? `ended by ${signal}` : `exit code ${code}`, false));
    });
    // A command that reads no input is not an error.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(`${JSON.stringify(notice)}\n`);
  });
}

/**
 * Starts the program. Some failures are thrown (a message longer than the system passes on, a path
 * through a file), others are events; without free descriptors there is no `stdin`.
 */
function start(
  [program = '', ...rest]: readonly string[],
  notice: Notice,
  env: Variables,
  home: string,
): ChildProcess | NodeJS.ErrnoException {
  try {
    return spawn(program, rest, {
      cwd: home,
      // A process group of its own, so that child processes are killed with it.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {
        ...Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
        SVC_ALERT_NAME: notice.alert,
        SVC_ALERT_STATE: notice.state,
        SVC_ALERT_TEXT: notice.text,
      },
    });
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

function notStarted({ code = 'unknown reason' }: NodeJS.ErrnoException): Delivery {
  return failedDelivery(`it cannot be started (${code})`, false);
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}
