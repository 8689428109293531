/**
 * What a command may touch: streams, environment, clock, paths and the process's
 * own events. It is passed in, so that tests run commands without a process.
 */
import type { BaseContext, CommandClass, Definition } from 'clipanion';
import type { Clock } from '../engine/clock.ts';
import { resolveHome } from '../server/config/home.ts';

/** Signals, `exit` and `uncaughtException`, as the process emits them. */
export interface ProcessEvents {
  on(event: string, listener: (message: unknown) => void): unknown;
  off(event: string, listener: (message: unknown) => void): unknown;
}

export interface CliContext extends BaseContext {
  readonly cwd: string;
  /** The user's home folder, for `~`. */
  readonly userHome: string;
  readonly clock: Clock;
  readonly random: (size: number) => Buffer;
  readonly version: string;
  /** What the user types before a command: `svc`, or npm's way of running it in a checkout. */
  readonly program: string;
  /** True where npm runs us, which passes on the terminal's signals that we get from the terminal too. */
  readonly isRunByNpm?: boolean;
  /** Version of Node, as `20.20.0`. */
  readonly nodeVersion: string;
  /** Definitions of all commands. */
  readonly definitions: () => Promise<readonly Definition[]>;
  /** The compiled entry, for starting ourselves in the background. */
  readonly entry: string;
  readonly events: ProcessEvents;
  /** Notifies the process that started us in the background; absent when nobody waits. */
  readonly notifyParent?: (message: unknown) => void;
}

export type CliCommand = CommandClass<CliContext>;

/** `$SVC_HOME` or `~/.svc`, absolute. */
export function homeOf(context: CliContext): string {
  return resolveHome(context.env, context.userHome, context.cwd);
}

/** A path as people write it: below the user's home with `~`. */
export function shortPath(path: string, context: Pick<CliContext, 'userHome'>): string {
  const { userHome } = context;
  if (userHome === '/' || userHome === '') return path;
  return path === userHome || path.startsWith(`${userHome}/`)
    ? `~${path.slice(userHome.length)}`
    : path;
}
