/**
 * Identifies processes. A pid alone is ambiguous once its process has ended and the system has
 * reused it, so it is always stored together with the start time of its process.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be confused with a later one with the same pid. */
export interface ProcessId {
  readonly pid: number;
  /** Start time in a system-specific form: only equality is meaningful. */
  readonly startTime: string;
}

/**
 * Returns the start time of the process with this pid, or undefined if there is none (a zombie does
 * not count).
 */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

/** True while exactly this process runs. */
export function isRunning({ pid, startTime }: ProcessId): boolean {
  return startTimeOf(pid) === startTime;
}

/** Sends `signal` if exactly this process still runs; otherwise false. */
export function signalProcess(target: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isRunning(target)) return false;
  try {
    process.kill(target.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Returns the command line of a process, cut at 80 characters; undefined if it is not visible. */
export function commandOf(pid: number): string | undefined {
  const command =
    process.platform === 'linux'
      ? readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ')
      : ask('ps', ['-o', 'args=', '-p', String(pid)]);
  const text = command?.trim();
  if (text === undefined || text === '') return undefined;
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function startTimeFromProc(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain anything, including a closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const ticks = fields[19];
  if (state === 'Z' || state === 'X' || ticks === undefined) return undefined;
  // Ticks count from boot, so after a reboot another process may have the same value.
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return `${boot} ${ticks}`;
}

function startTimeFromPs(pid: number): string | undefined {
  const output = ask('ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
  if (output === undefined || output === '' || output.startsWith('Z')) return undefined;
  return output.slice(output.indexOf(' ')).trim();
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the output of a system program, trimmed; undefined if it fails. */
export function ask(program: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    timeout: 2000,
  });
  return status === 0 ? stdout.trim() : undefined;
}
