/**
 * Commands to a running proxy, over a Unix socket that only its own user may open. They are never
 * reachable over the network. The socket also serves the proxy's own HTTP GET paths, without the
 * key that HTTP may require.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { SvcError, toSvcError } from '../../engine/index.ts';
import { parseBody } from '../../stages/dialect/json-kind.ts';
import { notFound } from '../../stages/model/errors.ts';
import { errorBody, errorStatus } from '../http/error-response.ts';
import { sendResponse } from '../http/send-response.ts';

/** One command: takes the JSON input (or undefined) and returns the JSON response. */
export type ControlCommand = (input: unknown) => unknown;

/** Commands by name: `POST /<name>`. */
export type ControlCommands = Readonly<Record<string, ControlCommand>>;

const MAX_COMMAND_BYTES = 1024 * 1024;

/** Returns the socket path of a home folder. */
export function controlPath(home: string): string {
  return join(home, 'control.sock');
}

/** Removes a socket left by a killed proxy; one that responds belongs to a running proxy. */
async function clearStale(path: string): Promise<void> {
  let isSocket: boolean;
  try {
    isSocket = lstatSync(path).isSocket();
  } catch {
    return;
  }
  if (!isSocket) throw new SvcError('config', `${path} is in the way: it is not a socket`);
  const isInUse = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
  if (!isInUse) unlinkSync(path);
  else
    throw new SvcError('config', 'Another proxy is running with this home folder', {
      cure: 'Stop it with `svc stop`, or give this one its own home folder with SVC_HOME.',
    });
}

/**
 * Opens the control socket in `home`: `POST /<name>` runs a command, `GET` is served by `read`.
 * Throws `config` if another proxy has it.
 */
export async function openControl(
  home: string,
  commands: ControlCommands,
  read: (request: Request) => Promise<Response>,
) {
  const path = controlPath(home);
  await clearStale(path);
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes > MAX_COMMAND_BYTES) request.destroy();
      else pieces.push(piece);
    });
    request.on('error', () => undefined);
    request.on('end', () => {
      const url = request.url ?? '/';
      const responded =
        request.method === 'GET'
          ? sendPath(read, url, request, response)
          : answer(commands, url, Buffer.concat(pieces)).then(({ status, body }) => {
              response.writeHead(status, { 'Content-Type': 'application/json' });
              response.end(body);
            });
      responded.catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Any program that can open the socket controls the proxy, so it must be private from the
    // start.
    const umask = process.umask(0o177);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(umask);
    }
  });
  chmodSync(path, 0o600);
  return {
    path,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function sendPath(
  read: (request: Request) => Promise<Response>,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const found = await read(new Request(`http://localhost${path}`));
  await sendResponse(request, response, found);
}

async function answer(
  commands: ControlCommands,
  url: string,
  bytes: Buffer,
): Promise<{ status: number; body: Buffer }> {
  try {
    const name = url.slice(1);
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command === undefined) throw notFound(`The proxy has no command '${name}'`);
    const input = bytes.length === 0 ? undefined : parseBody(bytes.toString('utf8'));
    const result: unknown = await command(input);
    return { status: 200, body: Buffer.from(JSON.stringify(result ?? {})) };
  } catch (thrown) {
    const error = toSvcError(thrown);
    return { status: errorStatus(error), body: errorBody(error, 'control') };
  }
}
