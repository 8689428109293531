/**
 * Which process a pid belongs to. A pid alone says nothing after its process
 * has ended and the system has given it away again, so it is always kept
 * together with the moment at which its process started.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessId {
  readonly pid: number;
  /** When it started, in the system's own words: only equality means anything. */
  readonly startTime: string;
}

/** When the process with this pid started, or undefined when there is none (a zombie is none). */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

/** True while exactly this process runs. */
export function isRunning({ pid, startTime }: ProcessId): boolean {
  return startTimeOf(pid) === startTime;
}

/** Sends `signal` if exactly this process still runs; false when it does not. */
export function signalProcess(target: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isRunning(target)) return false;
  try {
    process.kill(target.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** The command line of a process, cut at 80 characters; undefined when it cannot be seen. */
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
  // The name in parentheses may hold anything, a closing parenthesis too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const ticks = fields[19];
  if (state === 'Z' || state === 'X' || ticks === undefined) return undefined;
  // Ticks count from the boot, so that after a reboot another process may have the same.
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

/** What a system's own program answers, trimmed; undefined when it fails. */
export function ask(program: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    timeout: 2000,
  });
  return status === 0 ? stdout.trim() : undefined;
}
