/** Sends hostile requests and notes what became of each. */
import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { hostileRequest } from '../../../fixtures/fuzz.ts';
import type { HostileRequest } from '../../../fixtures/fuzz.ts';

/** How an exchange ended for the client. */
export interface Ended {
  readonly sent: HostileRequest;
  /** Undefined where no head came: the client left, or the connection broke off. */
  readonly status: number | undefined;
  /** The proxy's id of the request, where an answer named it. */
  readonly id: string | undefined;
  /** True if there must be a row: only requests to a provider are answered with their id. */
  readonly isOnLedger: boolean;
  /** Why there was no answer; undefined for what the client itself left. */
  readonly problem: string | undefined;
}

/** Which requests are sent, and where. */
export interface FuzzOptions {
  readonly port: number;
  readonly seed: number;
  /** Numbers of the requests, from `from` up to, not including, `to`. */
  readonly from: number;
  readonly to: number;
  /** Requests at a time. */
  readonly concurrency: number;
}

/** No exchange may take longer, the provider's stalls included. */
const PATIENCE_MS = 120_000;

/** Sends them all, `concurrency` at a time, and resolves with how each ended. */
export async function sendHostile(options: FuzzOptions): Promise<Ended[]> {
  const { port, seed, from, to, concurrency } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const ended: Ended[] = [];
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) {
      const sent = hostileRequest(seed, next);
      next += 1;
      ended.push(await send(port, agent, sent));
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    agent.destroy();
  }
  return ended;
}

function send(port: number, agent: Agent, sent: HostileRequest): Promise<Ended> {
  return new Promise((resolve) => {
    let head: IncomingMessage | undefined;
    const finish = (problem: string | undefined): void => {
      clearTimeout(timer);
      resolve(toEnded(sent, head, sent.leaves === undefined ? problem : undefined));
    };
    const request = httpRequest({
      agent,
      port,
      host: '127.0.0.1',
      method: sent.method,
      path: sent.target,
      headers: [...sent.rawHeaders, 'Host', `127.0.0.1:${port}`, ...framing(sent)],
    });
    const timer = setTimeout(() => {
      request.destroy();
      finish('no end within its time');
    }, PATIENCE_MS);
    request.on('response', (response) => {
      head = response;
      if (sent.leaves === 'in the answer') response.once('data', () => request.destroy());
      response.on('error', () => undefined);
      response.on('close', () => finish(undefined));
      response.resume();
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // After a head the answer's own end decides.
      if (head === undefined) finish(error.code ?? error.message);
    });
    request.on('close', () => {
      if (head === undefined) finish('closed without an answer');
    });
    writeBody(request, sent);
  });
}

function framing({ body, chunkSizes }: HostileRequest): string[] {
  return chunkSizes === undefined
    ? ['Content-Length', String(body.length)]
    : ['Transfer-Encoding', 'chunked'];
}

function writeBody(request: ClientRequest, { body, chunkSizes, leaves }: HostileRequest): void {
  const whole = leaves === 'in the body' ? body.subarray(0, body.length >> 1) : body;
  if (chunkSizes === undefined) request.write(whole);
  else for (const piece of piecesOf(whole, chunkSizes)) request.write(piece);
  if (leaves !== 'in the body') request.end();
  // Half of those who leave do so before their bytes were read.
  else if (body.length % 2 === 0) request.destroy();
  else setTimeout(() => request.destroy(), 5);
}

/** At most a few hundred pieces; what is left over comes in one. */
const MOST_PIECES = 200;

function* piecesOf(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let count = 0; at < bytes.length; count += 1) {
    const size = count < MOST_PIECES ? sizes[count % sizes.length]! : bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function toEnded(
  sent: HostileRequest,
  head: IncomingMessage | undefined,
  problem: string | undefined,
): Ended {
  const proxied = head?.headers['x-svc-request-id'];
  const own = head?.headers['x-request-id'];
  const id = typeof proxied === 'string' ? proxied : typeof own === 'string' ? own : undefined;
  const isOnLedger = proxied !== undefined || (head !== undefined && !sent.isHeadOdd);
  return { sent, status: head?.statusCode, id, isOnLedger, problem };
}
