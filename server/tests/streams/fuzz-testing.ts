/** Sends hostile requests and records the outcome of each. */
import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { hostileRequest } from '../../../fixtures/fuzz.ts';
import type { HostileRequest } from '../../../fixtures/fuzz.ts';

/** How an exchange ended for the client. */
export interface ExchangeResult {
  readonly sent: HostileRequest;
  /** Undefined if no head arrived: the client left, or the connection broke off. */
  readonly status: number | undefined;
  /** The proxy's id of the request, if a response contained it. */
  readonly id: string | undefined;
  /** True if there must be a ledger row: only responses to provider requests contain their id. */
  readonly isOnLedger: boolean;
  /** Why there was no response; undefined if the client itself left. */
  readonly problem: string | undefined;
}

/** Which requests to send, and where. */
export interface FuzzOptions {
  readonly port: number;
  readonly seed: number;
  /** Numbers of the requests, from `from` up to but not including `to`. */
  readonly from: number;
  readonly to: number;
  /** Concurrent requests. */
  readonly concurrency: number;
}

/** Time limit for an exchange, including the provider's stalls. */
const TIMEOUT_MS = 120_000;

/** Sends all requests, `concurrency` at a time, and resolves with the outcome of each. */
export async function sendHostile(options: FuzzOptions): Promise<ExchangeResult[]> {
  const { port, seed, from, to, concurrency } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const results: ExchangeResult[] = [];
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) {
      const sent = hostileRequest(seed, next);
      next += 1;
      results.push(await send(port, agent, sent));
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    agent.destroy();
  }
  return results;
}

function send(port: number, agent: Agent, sent: HostileRequest): Promise<ExchangeResult> {
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
    }, TIMEOUT_MS);
    request.on('response', (response) => {
      head = response;
      if (sent.leaves === 'in the answer') response.once('data', () => request.destroy());
      response.on('error', () => undefined);
      response.on('close', () => finish(undefined));
      response.resume();
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // After the head, the end of the response decides.
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
  // Half of the departing clients leave before their bytes are read.
  else if (body.length % 2 === 0) request.destroy();
  else setTimeout(() => request.destroy(), 5);
}

/** At most a few hundred chunks; the remainder is sent as one. */
const MAX_PIECES = 200;

function* piecesOf(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let count = 0; at < bytes.length; count += 1) {
    const size = count < MAX_PIECES ? sizes[count % sizes.length]! : bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function toEnded(
  sent: HostileRequest,
  head: IncomingMessage | undefined,
  problem: string | undefined,
): ExchangeResult {
  const proxied = head?.headers['x-svc-request-id'];
  const own = head?.headers['x-request-id'];
  const id = typeof proxied === 'string' ? proxied : typeof own === 'string' ? own : undefined;
  const isOnLedger = proxied !== undefined || (head !== undefined && !sent.isHeadOdd);
  return { sent, status: head?.statusCode, id, isOnLedger, problem };
}
