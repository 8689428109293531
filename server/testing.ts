/** A client for tests that shows exactly what a proxy answered: raw fields, bytes, and whether the answer was whole. */
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A request as a test writes it. */
export interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer | string;
  /** Sends the body with chunked coding and no length. */
  readonly chunked?: boolean;
  readonly signal?: AbortSignal;
}

/** An answer that was read to its end, good or bad. */
export interface Answered {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly text: string;
  /** False if the connection broke off inside the body. */
  readonly whole: boolean;
}

/** No test waits longer than this for one answer. */
export const PATIENCE_MS = 8000;

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Closes the idle connections of this client, which would keep a test's process alive. */
export function closeClients(): void {
  agent.destroy();
}

/** Sends `sent` to the proxy on `port` and returns once the head is there; a JSON POST of messages by default. */
export async function openAnswer(port: number, sent: Sent = {}): Promise<IncomingMessage> {
  const { path = '/v1/messages', method = 'POST', body, chunked = false } = sent;
  const bytes = Buffer.from(body ?? '');
  const hasBody = body !== undefined;
  const request = httpRequest({
    agent,
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: {
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(hasBody && !chunked && { 'content-length': String(bytes.length) }),
      ...sent.headers,
    },
    signal: sent.signal ?? AbortSignal.timeout(PATIENCE_MS),
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
  });
  request.end(hasBody ? bytes : undefined);
  return answered;
}

/** Sends `sent` and reads the whole answer. Rejects if not even a head arrives. */
export async function exchange(port: number, sent: Sent = {}): Promise<Answered> {
  return readAnswer(await openAnswer(port, sent));
}

/** The rest of an answer. */
export async function readAnswer(message: IncomingMessage): Promise<Answered> {
  const pieces: Buffer[] = [];
  message.on('data', (piece: Buffer) => pieces.push(piece));
  message.on('error', () => undefined);
  if (!message.closed) await once(message, 'close').catch(() => undefined);
  const body = Buffer.concat(pieces);
  return {
    status: message.statusCode ?? 0,
    rawHeaders: message.rawHeaders,
    headers: message.headers,
    body,
    text: body.toString(),
    whole: message.complete,
  };
}

/** A raw connection to `port`; a paused one takes nothing from the kernel. */
export async function openSocket(port: number, paused = false): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  if (paused) socket.pause();
  await once(socket, 'connect');
  return socket;
}

/** Writes `bytes` on a connection of their own and returns everything that comes back until it closes. */
export async function sendRaw(port: number, bytes: Buffer | string): Promise<string> {
  const socket = await openSocket(port);
  const pieces: Buffer[] = [];
  const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.write(bytes);
  if (!socket.closed) await once(socket, 'close').catch(() => undefined);
  clearTimeout(timer);
  return Buffer.concat(pieces).toString('latin1');
}

/** A small messages request. */
export const MESSAGE = {
  model: 'claude-fixture-1',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hello' }],
};

/** A small chat request. */
export const CHAT = { model: 'gpt-fixture-1', messages: [{ role: 'user', content: 'hello' }] };

/** `value` as JSON, streaming if asked. */
export function json(value: object, more: object = {}): string {
  return JSON.stringify({ ...value, ...more });
}

/** The percentile `p` (0 to 1) of `values`. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}
