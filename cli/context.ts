/**
 * The environment of a command: streams, variables, clock, paths and process events. It is passed
 * in, so that tests run commands without a process.
 */
import type { BaseContext, CommandClass, Definition } from 'clipanion';
import type { Clock } from '../engine/clock.ts';
import { resolveHome } from '../server/config/home.ts';

/** Signals, `exit` and `uncaughtException`, as emitted by the process. */
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
  /** How the user invokes svc: `svc`, or through npm or npx. */
  readonly program: string;
  /**
   * True if run by npm, which forwards the terminal's signals in addition to those that we receive
   * directly.
   */
  readonly isRunByNpm?: boolean;
  /** Version of Node, such as `20.20.0`. */
  readonly nodeVersion: string;
  /** Definitions of all commands. */
  readonly definitions: () => Promise<readonly Definition[]>;
  /** The compiled entry, for starting another svc process in the background. */
  readonly entry: string;
  readonly events: ProcessEvents;
  /** Notifies the process that started this one in the background; absent if there is none. */
  readonly notifyParent?: (message: unknown) => void;
}

export type CliCommand = CommandClass<CliContext>;

/** Returns `$SVC_HOME` or `~/.svc`, absolute. */
export function homeOf(context: CliContext): string {
  return resolveHome(context.env, context.userHome, context.cwd);
}

/** Abbreviates the user's home in a path to `~`. */
export function shortPath(path: string, context: Pick<CliContext, 'userHome'>): string {
  const { userHome } = context;
  if (userHome === '/' || userHome === '') return path;
  return path === userHome || path.startsWith(`${userHome}/`)
    ? `~${path.slice(userHome.length)}`
    : path;
}
