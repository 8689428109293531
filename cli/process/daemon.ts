/**
 * The proxy that runs with a home folder: its pid file, and starting one in the background. The
 * file is claimed by exclusive creation before anything listens, so that two simultaneous starts
 * cannot both succeed.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { SvcError, isSvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import {
  createPrivateFile,
  ensureHome,
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

/** Contents of the pid file. */
export interface Instance extends ProcessId {
  /** Identifies this start: only its owner may remove the file. */
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

/** The limit on macOS; Linux allows four more. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Time limit for a start in the background. */
const START_MS = 30_000;

/** Returns the path of a home folder's pid file. */
export function pidFile(home: string): string {
  return join(home, 'svc.pid');
}

/** Returns the path of a background proxy's output that is not in its log, such as a crash. */
export function outputFile(home: string): string {
  return join(home, 'logs', 'output.log');
}

/**
 * Reads the pid file, whether or not its process still runs; undefined if there is no valid one.
 *
 * @throws SvcError `config` if this user may not read it: then it is unknown whether a proxy runs.
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

/** Returns the proxy that runs with this home folder, according to its pid file. */
export function runningInstance(home: string): Instance | undefined {
  const instance = readInstance(home);
  return instance !== undefined && isRunning(instance) ? instance : undefined;
}

/** Polling interval for a starting proxy. */
const POLL_MS = 50;

/**
 * Returns the address of this home folder's proxy, once it listens; undefined if none runs, or if
 * the starting one has ended.
 *
 * @throws SvcError `unavailable` if it takes too long to start.
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
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function notListening(): SvcError {
  return new SvcError('unavailable', `svc was not listening after ${START_MS / 1000} s`);
}

/**
 * Claims the home folder for this process.
 *
 * @throws SvcError `conflict` if a proxy already runs with it, `config` if it cannot be used.
 */
export function claimHome(
  home: string,
  context: CliContext,
  how: { readonly flags: ServeFlags; readonly background: boolean },
) {
  refuseLongHome(home);
  ensureHome(home);
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
      removeStaleFile(path);
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
    /** Adds the address of the proxy. */
    listening(where: { url: string; wsUrl: string; port: number }): void {
      if (isOurs()) writePrivateFile(path, JSON.stringify({ ...instance, ...where }));
    },
    /** Removes the file, if it is still ours. */
    release: (): void => {
      if (isOurs()) fs.rmSync(path, { force: true });
    },
  };
}

/** The system silently truncates longer socket paths, so that the socket is created elsewhere. */
function refuseLongHome(home: string): void {
  if (Buffer.byteLength(controlPath(home)) <= MAX_SOCKET_PATH_BYTES) return;
  throw new SvcError('config', `The path of the home folder is too long for a socket: ${home}`, {
    cure: 'Choose a shorter one with SVC_HOME.',
  });
}

/** Removes a pid file whose process is gone. */
export function removeStale(home: string): void {
  if (runningInstance(home) === undefined) removeStaleFile(pidFile(home));
}

/** Returns the error for a home folder that is in use. */
export function alreadyRuns(instance: Instance): SvcError {
  const where = instance.url === undefined ? 'starting' : `on ${instance.url}`;
  return new SvcError('conflict', `svc is already running, ${where} (pid ${instance.pid})`, {
    cure: '`svc status` shows it, `svc stop` stops it, `svc logs --follow` shows its log. SVC_HOME gives a second one its own home folder.',
  });
}

/**
 * Starts `svc serve` as a separate process that outlives this one. Resolves with its facts when it
 * listens.
 *
 * @throws SvcError the error of the failed start.
 */
export async function startInBackground(
  home: string,
  flags: ServeFlags,
  context: CliContext,
  cwd: string,
): Promise<ServeFacts> {
  const running = runningInstance(home);
  if (running !== undefined) throw alreadyRuns(running);
  ensureHome(home);
  ensurePrivateFolder(join(home, 'logs'));
  const output = fs.openSync(outputFile(home), 'a', 0o600);
  try {
    fs.fchmodSync(output, 0o600);
    const child = spawn(
      process.execPath,
      // Some versions of node read their own `--env-file` even after the script's name.
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

/** Resolves with the started process's first message: that it listens; rejects if it failed. */
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

/** Converts an error to a message for the process that waits for the start. */
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

/**
 * Refuses a file that is not a pid file, since a stale one is deleted and this may be someone
 * else's. One truncated by a crash counts as ours.
 */
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
 * Removes a stale file. It is renamed before it is examined, because in between another start may
 * have put its own in place; that one is put back.
 */
function removeStaleFile(path: string): void {
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
    // Not readable as ours, so it is not a claim.
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
