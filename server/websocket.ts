/**
 * `/ws`: one JSON text frame in, event objects out. Each frame becomes one run
 * through the same graph as a POST; a connection runs one at a time and keeps
 * one more waiting.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { Cancelled, SvcError, createCanceller, run, toSvcError } from '../engine/index.ts';
import type { Canceller } from '../engine/index.ts';
import { resolveEndpoint } from '../stages/dialect/endpoints.ts';
import type { Endpoint } from '../stages/dialect/endpoints.ts';
import {
  invalidJson,
  malformedRequest,
  notFound,
  overloaded,
  rateLimited,
  shuttingDown,
  wrongType,
} from '../stages/model/errors.ts';
import type { BodyFrame } from '../stages/model/frame.ts';
import { errorBody, rawErrorResponse } from './error-response.ts';
import { isCleanTarget, originForm, pathOf } from './gate/target.ts';
import type { Generations } from './generation.ts';
import { rateLimitHeaders } from './limit.ts';
import type { Running } from './running.ts';
import type { ServerServices } from './services.ts';
import { SocketSink } from './sink/ws.ts';
import { untouchableBecause } from './untouchable.ts';

export interface SocketOptions {
  readonly generations: Generations;
  readonly services: ServerServices;
  readonly newId: () => string;
  readonly paused: () => boolean;
  readonly draining: () => boolean;
  /** The controllers of all runs, for the drain. */
  readonly running: Running;
}

export interface SocketDoor {
  /** Answers an upgrade request on either port. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Says goodbye on every connection that has no run. */
  close(): void;
}

/** A connection that says nothing for this long after it opened is closed. */
const FIRST_FRAME_MS = 5000;
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;
const POLICY = 1008;

export function createSocketDoor(options: SocketOptions): SocketDoor {
  const { generations, newId } = options;
  let opening: Promise<WebSocketServer> | undefined;
  let server: WebSocketServer | undefined;

  /** The library is loaded by the first upgrade: most proxies never see one. */
  async function openServer(): Promise<WebSocketServer> {
    const library = await import('ws');
    const opened = new library.WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: generations.current.config.limits.maxProxiedRequestBytes,
      clientTracking: true,
    });
    opened.on('headers', (fields) => fields.push(`X-Request-ID: ${newId()}`));
    return (server = opened);
  }

  function refuse(request: IncomingMessage, socket: Duplex, error: SvcError, extra: string[] = []) {
    const readable = generations.current.cors.headers(request.headers.origin);
    socket.on('error', () => undefined);
    socket.end(rawErrorResponse(error, newId(), [...readable, ...extra]));
  }

  function admit(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { gate, limiter } = generations.current;
    const admission = gate(request, 'upgrade');
    if (admission.verdict === 'refused') return refuse(request, socket, admission.error);
    const decision = limiter.take(request.socket.remoteAddress ?? '');
    if (decision?.isAllowed === false) {
      const error = rateLimited(decision.retryAfterS);
      return refuse(request, socket, error, rateLimitHeaders(decision));
    }
    const target = originForm(request.url ?? '/');
    if (pathOf(target) !== '/ws') {
      resolveEndpoint(request.method ?? 'GET', target, request.rawHeaders);
      throw notFound('No WebSocket is spoken on this path');
    }
    if (options.draining()) throw shuttingDown();
    opening ??= openServer();
    opening.then(
      (opened) =>
        opened.handleUpgrade(request, socket, head, (client) => {
          serveConnection(client, request, options);
        }),
      (thrown: unknown) => refuse(request, socket, toSvcError(thrown)),
    );
  }

  return {
    upgrade(request, socket, head) {
      try {
        admit(request, socket, head);
      } catch (thrown) {
        refuse(request, socket, toSvcError(thrown));
      }
    },
    close() {
      for (const client of server?.clients ?? [])
        client.close(GOING_AWAY, 'the proxy is shutting down');
    },
  };
}

/** What a client's frame asks for. */
interface Asked {
  readonly endpoint: Endpoint;
  readonly target: string;
  readonly headers: readonly string[];
  readonly bytes: Buffer;
  readonly gzip: boolean;
}

/** A connection lives by its socket's events; nobody else holds it. */
function serveConnection(
  client: WebSocket,
  request: IncomingMessage,
  options: SocketOptions,
): void {
  const connection = new Connection(client, request, options);
  client.on('message', (data, isBinary) => connection.onFrame(data, isBinary));
}

class Connection {
  #client: WebSocket;
  #options: SocketOptions;
  #headers: readonly string[];
  #controller: Canceller | undefined;
  #waiting: RawData | undefined;

  constructor(client: WebSocket, request: IncomingMessage, options: SocketOptions) {
    this.#client = client;
    this.#options = options;
    this.#headers = ownHeaders(request.rawHeaders);
    const { clock } = options.services;
    const stopTimer = clock.after(FIRST_FRAME_MS, () => client.close(POLICY, 'no frame arrived'));
    client.once('message', stopTimer);
    client.on('close', () => {
      stopTimer();
      this.#controller?.abort(new Cancelled('client_gone'));
    });
    // 'close' follows and does what there is to do.
    client.on('error', () => undefined);
  }

  onFrame(data: RawData, isBinary: boolean): void {
    if (isBinary)
      return this.#say(new SvcError('bad_request', 'Send one JSON text frame a request'));
    if (this.#controller === undefined) return void this.#serve(data);
    if (this.#waiting === undefined) {
      this.#waiting = data;
      return undefined;
    }
    return this.#say(overloaded('One request runs and one waits on this connection; open another'));
  }

  #say(error: SvcError, requestId = this.#options.newId()): void {
    if (this.#client.readyState === this.#client.OPEN) {
      this.#client.send(errorBody(error, requestId).toString('utf8'));
    }
  }

  async #serve(data: RawData): Promise<void> {
    const { generations, services, newId, running, paused } = this.#options;
    const requestId = newId();
    const controller = createCanceller();
    this.#controller = controller;
    const place = running.add(controller);
    const { generation, release } = generations.pin();
    try {
      const asked = readFrame(data, this.#headers);
      const { clock } = services;
      const { subscriptionTraffic } = generation.config.compression;
      const body: BodyFrame = Object.freeze({
        kind: 'body',
        method: 'POST',
        target: asked.target,
        headers: asked.headers,
        wireBytes: asked.bytes,
        bytes: asked.bytes,
        endpoint: asked.endpoint,
        untouchable: paused() ? 'paused' : untouchableBecause(asked.headers, subscriptionTraffic),
      });
      const { signal } = controller;
      const info = {
        id: requestId,
        clock,
        startedWallMs: clock.wallMs(),
        startedMs: clock.monotonicMs(),
        signal,
      };
      const sink = new SocketSink({ socket: this.#client, signal, requestId, gzip: asked.gzip });
      await run(generation.plan, body, info, sink);
    } catch (thrown) {
      this.#say(toSvcError(thrown), requestId);
    } finally {
      running.remove(place);
      release();
      this.#next();
    }
  }

  #next(): void {
    this.#controller = undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined && this.#client.readyState === this.#client.OPEN)
      void this.#serve(waiting);
  }
}

/** Fields of the upgrade that make sense for a request: who the client is, never how the socket was opened. */
function ownHeaders(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const passes = name === 'user-agent' || name === 'x-svc-mode' || name === 'x-svc-bypass';
    if (passes || name.startsWith('anthropic-')) kept.push(raw[i]!, raw[i + 1]!);
  }
  return kept;
}

/** Fields of a frame that are for us and not for the provider. */
const OUR_FIELDS = new Set(['api_key', 'gzip', 'endpoint']);

/** A text frame's words; the library hands them over as one buffer, or as several. */
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8');
}

/** Reads a client's frame. Throws VALIDATION_001 and _003, and `not_found` for an endpoint that is not proxied. */
function readFrame(data: RawData, headers: readonly string[]): Asked {
  let frame: unknown;
  try {
    frame = JSON.parse(textOf(data));
  } catch (cause) {
    throw invalidJson(cause);
  }
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) {
    throw wrongType('frame', 'object', Array.isArray(frame) ? 'array' : typeof frame);
  }
  const fields = new Map<string, unknown>(Object.entries(frame));
  const target = textField(fields, 'endpoint') ?? '/v1/messages';
  const endpoint = isCleanTarget(target) ? resolveEndpoint('POST', target, []) : undefined;
  if (endpoint === undefined || 'allow' in endpoint) throw notFound(`No such endpoint: ${target}`);
  const key = textField(fields, 'api_key');
  // It becomes a header field, which takes no line breaks.
  if (key !== undefined && !/^[!-~]+$/.test(key)) {
    throw malformedRequest("Field 'api_key' holds what no key may hold");
  }
  const body = Object.fromEntries([...fields].filter(([name]) => !OUR_FIELDS.has(name)));
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    endpoint,
    target,
    headers: [...headers, ...ofRequest(endpoint, key, headers)],
    bytes,
    gzip: fields.get('gzip') === true,
  };
}

function textField(fields: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string')
    throw wrongType(name, 'string', value === null ? 'null' : typeof value);
  return value;
}

/** The header fields that a POST of this frame would have had. */
function ofRequest(
  endpoint: Endpoint,
  key: string | undefined,
  given: readonly string[],
): string[] {
  const isMessages = endpoint.dialect === 'messages';
  const fields = ['Content-Type', 'application/json'];
  const versioned = given.some((field) => field.toLowerCase() === 'anthropic-version');
  if (isMessages && !versioned) fields.push('anthropic-version', '2023-06-01');
  if (key === undefined) return fields;
  if (isMessages) return [...fields, 'x-api-key', key];
  if (endpoint.dialect === 'generative') return [...fields, 'x-goog-api-key', key];
  return [...fields, 'Authorization', `Bearer ${key}`];
}
