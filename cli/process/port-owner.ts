/**
 * Checks whether a port is available, and finds the process that uses it, for the error message.
 */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { ask, commandOf } from './processes.ts';

/** A listening process. */
export interface PortOwner {
  readonly pid: number;
  /** Its command line, if visible. */
  readonly command: string | undefined;
}

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENING = '0A';

/** Returns why one cannot listen on `host:port`, for example `EADDRINUSE`; undefined if one can. */
export function listenError(
  host: string,
  port: number,
): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/**
 * Returns the process that listens on `port`; undefined if it belongs to another user or cannot be
 * found.
 */
export function ownerOf(port: number): PortOwner | undefined {
  const pid = process.platform === 'linux' ? pidFromProc(port) : pidFromLsof(port);
  return pid === undefined ? undefined : { pid, command: commandOf(pid) };
}

function pidFromProc(port: number): number | undefined {
  const inodes = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listeningInodes(file, port)),
  );
  if (inodes.size === 0) return undefined;
  const targets = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  return pids().find((pid) => holds(pid, targets));
}

function listeningInodes(file: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(suffix) === true && fields[3] === LISTENING)
      .flatMap((fields) => fields[9] ?? []);
  } catch {
    return [];
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function holds(pid: number, targets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return false;
  }
  return names.some((name) => {
    try {
      return targets.has(readlinkSync(`${folder}/${name}`));
    } catch {
      return false;
    }
  });
}

function pidFromLsof(port: number): number | undefined {
  const output = ask('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t']);
  const pid = Number(output?.split('\n')[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}
