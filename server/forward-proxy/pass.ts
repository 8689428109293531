/**
 * Passes requests through to an intercepted host: method, target, headers in their order, body, and
 * the response back. Each client connection has its own connections to the host, so that state tied
 * to a connection (a half-open stream, a login) behaves as without svc.
 */
import { Agent, request as httpRequest } from 'node:http';
import type { ClientRequest, ClientRequestArgs, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isSvcError } from '../../engine/index.ts';
import type { Clock, SvcError } from '../../engine/index.ts';
import { hostUnreachable, upstreamTimeout } from '../../stages/model/errors.ts';
import { reasonOf } from '../../stages/providers/failure-reason.ts';
import type { Connector } from '../../stages/providers/undici-upstream.ts';
import { passedHeaders } from './passed-headers.ts';
import { splice } from './splice.ts';

/** Time limit for connecting; after that, the client decides how long to wait. */
const CONNECT_MS = 30_000;

/** An agent that passes the request's options to our connector. */
class HostAgent extends Agent {
  readonly #host: string;
  readonly #open: Connector;

  constructor(host: string, open: Connector) {
    super({ keepAlive: true, maxFreeSockets: 1 });
    this.#host = host;
    this.#open = open;
  }

  override createConnection(
    _options: ClientRequestArgs,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const hostname = this.#host;
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with an error there is no stream
      done?.(upstreamTimeout(), undefined as unknown as Duplex);
    }, CONNECT_MS);
    const connectOptions = {
      protocol: 'https:',
      hostname,
      host: hostname,
      port: '',
      servername: hostname,
    };
    this.#open(connectOptions, (error, socket) => {
      clearTimeout(timer);
      if (isOver) socket?.destroy();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of the two exists
      else done?.(error, socket as unknown as Duplex);
    });
    return undefined;
  }
}

export interface PassCallbacks {
  /** Called with the error if the request fails before the host's response begins. */
  readonly failed: (error: SvcError) => void;
}

/** Creates the pass-through for client connections. */
export function createPass(open: Connector, clock: Clock) {
  const agents = new WeakMap<object, HostAgent>();

  function agentOf(socket: Duplex, host: string): HostAgent {
    let agent = agents.get(socket);
    if (agent === undefined) {
      const made = new HostAgent(host, open);
      agents.set(socket, (agent = made));
      socket.once('close', () => made.destroy());
    }
    return agent;
  }

  function ask(request: IncomingMessage, host: string): ClientRequest {
    const { method, url, rawHeaders, socket } = request;
    return httpRequest({
      agent: agentOf(socket, host),
      host,
      method: method ?? 'GET',
      path: url ?? '/',
      // Flat, as received: node then adds no headers of its own.
      headers: passedHeaders(rawHeaders),
      insecureHTTPParser: false,
    });
  }

  return {
    /** Passes a request to the host and its response back. */
    request(
      request: IncomingMessage,
      response: ServerResponse,
      host: string,
      { failed }: PassCallbacks,
    ): void {
      const asking = ask(request, host);
      const onClientGone = (): void => void (response.writableFinished || asking.destroy());
      response.once('close', onClientGone);
      asking.on('error', (error) => {
        if (response.headersSent) response.destroy();
        else if (!response.destroyed) failed(toFailure(host, error));
      });
      asking.on('continue', () => response.writeContinue());
      asking.on('information', ({ statusCode, rawHeaders }) => {
        const links = rawHeaders.filter(
          (_, index) => rawHeaders[index - 1]?.toLowerCase() === 'link',
        );
        if (statusCode !== 103 || links.length === 0) return;
        try {
          response.writeEarlyHints({ link: links });
        } catch {
          // If Node's check refuses an early hint, the client can do without it.
        }
      });
      asking.on('response', (answer) => {
        const { statusCode = 502, statusMessage, rawHeaders } = answer;
        response.sendDate = false;
        try {
          response.writeHead(
            statusCode,
            statusMessage ?? '',
            passedHeaders(rawHeaders) as string[],
          );
        } catch (thrown) {
          // A refused part of the head stays set, and would be refused again.
          response.statusMessage = '';
          asking.destroy();
          failed(hostUnreachable(host, 'its answer has a head that HTTP cannot carry', thrown));
          return;
        }
        // The client of a stream needs the head before the first event.
        response.flushHeaders();
        answer.on('error', () => response.destroy());
        answer.on('end', () => {
          try {
            if (answer.rawTrailers.length > 0) response.addTrailers(toPairs(answer.rawTrailers));
          } catch {
            response.destroy();
          }
        });
        answer.pipe(response);
      });
      request.on('error', () => asking.destroy());
      if (request.headers.expect !== undefined) asking.flushHeaders();
      request.pipe(asking);
    },

    /** Passes an upgrade to the host; if the host agrees, the two connections are joined. */
    upgrade(
      request: IncomingMessage,
      socket: Duplex,
      firstBytes: Buffer,
      host: string,
      { failed, joined }: PassCallbacks & { readonly joined: (end: Duplex) => void },
    ): void {
      const asking = ask(request, host);
      socket.on('error', () => asking.destroy());
      socket.once('close', () => asking.destroy());
      asking.on('error', (error) => {
        if (!socket.destroyed) failed(toFailure(host, error));
      });
      asking.on('upgrade', (answer, far: Duplex, more: Buffer) => {
        socket.write(headOf(answer));
        if (more.length > 0) socket.write(more);
        if (firstBytes.length > 0) far.write(firstBytes);
        joined(far);
        void splice(socket, far, clock);
      });
      asking.on('response', (answer) => {
        // The host declined. The connection has left HTTP here, so it ends with this response.
        const fields = passedHeaders(answer.rawHeaders).filter(
          (_, index, all) => !/^(?:connection|transfer-encoding)$/i.test(all[index - (index % 2)]!),
        );
        socket.write(headOf(answer, [...fields, 'Connection', 'close']));
        answer.on('error', () => socket.destroy());
        answer.pipe(socket);
      });
      asking.end();
    },
  };
}

export type Pass = ReturnType<typeof createPass>;

/** A failure to reach the host is not a fault of this proxy. */
function toFailure(host: string, error: Error): SvcError {
  return isSvcError(error) ? error : hostUnreachable(host, reasonOf(error), error);
}

function headOf(answer: IncomingMessage, fields: readonly string[] = answer.rawHeaders): Buffer {
  const { httpVersion, statusCode, statusMessage } = answer;
  const lines = [`HTTP/${httpVersion} ${statusCode} ${statusMessage ?? ''}`];
  for (let i = 0; i + 1 < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function toPairs(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!]);
  return pairs;
}
