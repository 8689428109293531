/**
 * Runs a client as a child process: it owns the terminal, receives each signal once, and its exit
 * is passed on.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { onPath } from '../integrate/wiring.ts';

/** Signals that a terminal sends to every foreground process. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const FORWARDED_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

/**
 * Runs a program in this terminal until it ends. Resolves with its exit code; for a program ended
 * by a signal with 128 plus the signal's number, as shells do.
 *
 * @throws SvcError `not_found` or `forbidden` if it cannot be started.
 */
export function runChild(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  context: CliContext,
): Promise<number> {
  const [program = '', ...rest] = command;
  return new Promise((ended, reject) => {
    const child = spawn(program, rest, { cwd: context.cwd, env: { ...env }, stdio: 'inherit' });
    const hasTerminal = 'isTTY' in context.stdin && context.stdin.isTTY === true;
    const listeners = [...FROM_TERMINAL, ...FORWARDED_SIGNALS].map((signal) => {
      const isDelivered = hasTerminal && FROM_TERMINAL.includes(signal);
      // Clients count presses of Ctrl-C, so signals already sent by the terminal are not repeated.
      const listener = () => void (isDelivered || child.kill(signal));
      context.events.on(signal, listener);
      return [signal, listener] as const;
    });
    const release = () => {
      for (const [signal, listener] of listeners) context.events.off(signal, listener);
    };
    child.once('error', (cause: NodeJS.ErrnoException) => {
      release();
      reject(notStarted(program, cause));
    });
    child.once('exit', (code, signal) => {
      release();
      ended(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

/** Throws `not_found` if there is no such program, neither on PATH nor, for a path, at it. */
export function checkProgram(program: string, context: Pick<CliContext, 'cwd' | 'env'>): void {
  const { cwd, env } = context;
  const isPath = program.includes('/');
  // Folders that depend on where it is started are left to the system.
  const isCertain = env['PATH']?.split(delimiter).every((folder) => isAbsolute(folder)) === true;
  const exists = isPath ? existsSync(resolve(cwd, program)) : onPath(program, context);
  if (!exists && (isPath || isCertain)) throw noProgram(program);
}

function noProgram(program: string, cause?: Error): SvcError {
  return new SvcError('not_found', `There is no program ${program}`, {
    ...(cause && { cause }),
    cure: 'Install it, or name it with its path.',
  });
}

function notStarted(program: string, cause: NodeJS.ErrnoException): SvcError {
  if (cause.code === 'ENOENT') return noProgram(program, cause);
  const kind = cause.code === 'EACCES' ? 'forbidden' : 'internal';
  return new SvcError(kind, `${program} cannot be started: ${cause.message}`, { cause });
}
