/**
 * The proxy that runs with a home folder: its pid file, and how one is started
 * in the background. The file is claimed by exclusive creation before anything
 * listens, so that two that start at once cannot both believe they are alone.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { SvcError, isSvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import {
  createPrivateFile,
  ensurePrivateFolder,
  writePrivateFile,
} from '../../server/config/home.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { controlPath } from '../../server/control/control.ts';
import type { CliContext } from '../context.ts';
import type { ServeFlags } from '../parse/flags.ts';
import { toArguments } from '../parse/flags.ts';
import { isRunning, startTimeOf } from './processes.ts';
import type { ProcessId } from './processes.ts';
import type { ServeFacts } from './facts.ts';

/** What the pid file says. */
export interface Instance extends ProcessId {
  /** Names this start: whoever removes the file must know it. */
  readonly nonce: string;
  readonly background: boolean;
  readonly startedMs: number;
  /** Where and how it was started, so that `restart` can do the same. */
  readonly cwd: string;
  readonly flags: ServeFlags;
  /** Present once it listens. */
  readonly url?: string;
  readonly wsUrl?: string;
  readonly port?: number;
}

/** A claimed pid file. */
export type Claim = ReturnType<typeof claimHome>;

/** What macOS allows; Linux allows four more. */
const MOST_SOCKET_PATH_BYTES = 103;

/** How long a start in the background may take. */
const START_MS = 30_000;

/** Where the pid file of a home folder is. */
export function pidFile(home: string): string {
  return join(home, 'svc.pid');
}

/** What a proxy in the background prints that is not in its log, such as a crash. */
export function outputFile(home: string): string {
  return join(home, 'logs', 'output.log');
}

/**
 * What the pid file says, whether or not that process still runs; undefined without a sound one.
 *
 * @throws SvcError `config` where this user may not read it: then nobody knows whether a proxy runs.
 */
export function readInstance(home: string): Instance | undefined {
  try {
    const value: unknown = JSON.parse(fs.readFileSync(pidFile(home), 'utf8'));
    return isInstance(value) ? value : undefined;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') return undefined;
    throw new SvcError('config', `The home folder ${home} cannot be read: ${reasonOf(cause)}`, {
      cause,
      cure: 'Run svc as the user whose folder it is, or name another one with SVC_HOME.',
    });
  }
}

/** The proxy that runs with this home folder, by its pid file. */
export function runningInstance(home: string): Instance | undefined {
  const instance = readInstance(home);
  return instance !== undefined && isRunning(instance) ? instance : undefined;
}

/** How often a proxy that starts is looked at. */
const LOOK_MS = 50;

/**
 * Where the proxy of this home folder listens, once it does; undefined where none runs, or where one
 * that was starting has ended.
 *
 * @throws SvcError `unavailable` where one takes too long to start.
 */
export async function listeningUrl(
  home: string,
  { clock }: Pick<CliContext, 'clock'>,
): Promise<string | undefined> {
  const untilMs = clock.monotonicMs() + START_MS;
  for (;;) {
    const instance = runningInstance(home);
    if (instance?.url !== undefined) return instance.url;
    if (instance === undefined) return undefined;
    if (clock.monotonicMs() > untilMs) throw notListening();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function notListening(): SvcError {
  return new SvcError('unavailable', `svc was not listening after ${START_MS / 1000} s`);
}

/**
 * Claims the home folder for this process.
 *
 * @throws SvcError `conflict` when a proxy runs with it already, `config` when it cannot be used.
 */
export function claimHome(
  home: string,
  context: CliContext,
  how: { readonly flags: ServeFlags; readonly background: boolean },
) {
  refuseLongHome(home);
  ensurePrivateFolder(home);
  const instance: Instance = {
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? '',
    nonce: context.random(8).toString('hex'),
    background: how.background,
    startedMs: context.clock.wallMs(),
    cwd: context.cwd,
    flags: how.flags,
  };
  const path = pidFile(home);
  for (let round = 0; ; round += 1) {
    try {
      createPrivateFile(path, JSON.stringify(instance));
      break;
    } catch (thrown) {
      if (!isSvcError(thrown) || thrown.kind !== 'conflict' || round === 3) throw thrown;
      const other = runningInstance(home);
      if (other !== undefined) throw alreadyRuns(other);
      setAside(path);
    }
  }
  const isOurs = (): boolean => {
    try {
      return readInstance(home)?.nonce === instance.nonce;
    } catch {
      return false;
    }
  };
  return {
    /** Adds where the proxy listens. */
    listening(where: { url: string; wsUrl: string; port: number }): void {
      if (isOurs()) writePrivateFile(path, JSON.stringify({ ...instance, ...where }));
    },
    /** Removes the file, if it is still ours. */
    release: (): void => {
      if (isOurs()) fs.rmSync(path, { force: true });
    },
  };
}

/** The system cuts longer socket paths off without a word, and the socket lands elsewhere. */
function refuseLongHome(home: string): void {
  if (Buffer.byteLength(controlPath(home)) <= MOST_SOCKET_PATH_BYTES) return;
  throw new SvcError('config', `The path of the home folder is too long for a socket: ${home}`, {
    cure: 'Choose a shorter one with SVC_HOME.',
  });
}

/** Removes a pid file whose process is gone. */
export function removeStale(home: string): void {
  if (runningInstance(home) === undefined) setAside(pidFile(home));
}

/** The error for a home folder that is in use. */
export function alreadyRuns(instance: Instance): SvcError {
  const where = instance.url === undefined ? 'starting' : `on ${instance.url}`;
  return new SvcError('conflict', `svc is already running, ${where} (pid ${instance.pid})`, {
    cure: '`svc status` shows it, `svc stop` stops it, `svc logs --follow` shows its log. SVC_HOME gives a second one its own home folder.',
  });
}

/**
 * Starts `svc serve` as a process of its own that outlives this one. Resolves
 * when it listens, with what it says of itself.
 *
 * @throws SvcError what the start failed with.
 */
export async function startInBackground(
  home: string,
  flags: ServeFlags,
  context: CliContext,
  cwd: string,
): Promise<ServeFacts> {
  const running = runningInstance(home);
  if (running !== undefined) throw alreadyRuns(running);
  ensurePrivateFolder(home);
  ensurePrivateFolder(join(home, 'logs'));
  const output = fs.openSync(outputFile(home), 'a', 0o600);
  try {
    fs.fchmodSync(output, 0o600);
    const child = spawn(
      process.execPath,
      // Some versions of node look for an `--env-file` of theirs behind the script's name too.
      [...process.execArgv, '--', context.entry, 'serve', ...toArguments(flags)],
      { detached: true, cwd, env: context.env, stdio: ['ignore', output, output, 'ipc'] },
    );
    try {
      return await factsOf(child, home);
    } finally {
      child.removeAllListeners();
      if (child.connected) child.disconnect();
      child.unref();
    }
  } finally {
    fs.closeSync(output);
  }
}

/** What the started process says first: that it listens, or why not. */
function factsOf(child: ChildProcess, home: string): Promise<ServeFacts> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(notListening());
    }, START_MS);
    const fail = (error: SvcError) => {
      clearTimeout(timer);
      reject(error);
    };
    child.once('error', (cause) =>
      fail(new SvcError('internal', `svc could not be started: ${cause.message}`, { cause })),
    );
    child.once('exit', (code) => fail(endedEarly(code, home)));
    child.on('message', (message) => {
      if (!isReady(message)) return fail(fromMessage(message));
      clearTimeout(timer);
      resolve(message.ready);
    });
  });
}

/** A failure as a message to the process that waits for the start. */
export function toMessage(error: SvcError): unknown {
  const { kind, message, code, cure } = error;
  return { failed: { kind, message, code, cure } };
}

function isReady(message: unknown): message is { ready: ServeFacts } {
  return typeof message === 'object' && message !== null && 'ready' in message;
}

function fromMessage(message: unknown): SvcError {
  const { failed } = message as {
    failed: { kind: ErrorKind; message: string; code?: string; cure?: string };
  };
  const { kind, code, cure } = failed;
  return new SvcError(kind, failed.message, { code, cure });
}

function endedEarly(code: number | null, home: string): SvcError {
  const how = code === null ? 'was killed' : `ended with exit code ${code}`;
  return new SvcError('unavailable', `svc ${how} before it was listening`, {
    cure: `Its output is in ${outputFile(home)}`,
  });
}

/** Refuses what is no pid file: it may be somebody's, and a stale one is deleted. One that a crash cut short is ours. */
function refuseForeign(path: string): void {
  let text: string;
  try {
    text = fs.readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new SvcError('config', `${path} is in the way: ${reasonOf(cause)}`, { cause });
  }
  if (text === '' || text.startsWith('{')) return;
  throw new SvcError('config', `${path} is in the way: svc did not write it`, {
    cure: 'Move it away, or give svc its own home folder with SVC_HOME.',
  });
}

/**
 * Takes a stale file away. It is renamed before it is judged, because between
 * looking and removing another start may have put its own in place; that one
 * is put back.
 */
function setAside(path: string): void {
  refuseForeign(path);
  const aside = `${path}.${process.pid}.stale`;
  try {
    fs.renameSync(path, aside);
  } catch {
    return;
  }
  try {
    const value: unknown = JSON.parse(fs.readFileSync(aside, 'utf8'));
    if (isInstance(value) && isRunning(value)) fs.linkSync(aside, path);
  } catch {
    // Not readable as ours: nobody's claim.
  } finally {
    fs.rmSync(aside, { force: true });
  }
}

function isInstance(value: unknown): value is Instance {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startTime, nonce, flags, cwd } = value as Partial<Record<keyof Instance, unknown>>;
  return (
    Number.isInteger(pid) &&
    Number(pid) > 0 &&
    typeof startTime === 'string' &&
    typeof nonce === 'string' &&
    typeof cwd === 'string' &&
    typeof flags === 'object' &&
    flags !== null
  );
}
