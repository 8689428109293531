/**
 * One WebSocket connection: JSON text frames in, event objects out. Each frame is a request like a
 * POST: it counts against the rate limit, is refused during a drain, becomes one run through the
 * same graph, and ends in one ledger row. A connection has one run at a time and one more request
 * waiting.
 */
import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { Cancelled, createCanceller, toSvcError } from '../../engine/index.ts';
import type { Canceller, RunInfo, SvcError } from '../../engine/index.ts';
import { ALLOW_HEADER } from '../../stages/budget/estimate.ts';
import {
  overloaded,
  payloadTooLarge,
  rateLimited,
  shuttingDown,
} from '../../stages/model/errors.ts';
import { headerValue, withoutHeaders } from '../../stages/model/headers.ts';
import { toBodyFrame } from '../http/body-frame.ts';
import type { ReceivedRequest } from '../http/body-frame.ts';
import type { Caller } from '../../stages/model/caller.ts';
import { namedProject } from '../../stages/model/project.ts';
import { admittedHead } from '../gate/admitted-head.ts';
import type { Served } from '../gate/admitted-head.ts';
import type { GateRequest } from '../gate/gate.ts';
import type { RateDecision } from '../http/limit.ts';
import { refusedRow } from '../run/refused-row.ts';
import { isGuarded } from '../generation/generation.ts';
import type { Generation, Generations } from '../generation/generation.ts';
import { runAndReport } from '../run/run-and-report.ts';
import type { Running } from '../run/running.ts';
import type { ServerServices } from '../services.ts';
import { SocketSink } from '../sink/ws.ts';
import { countArriving } from './arriving.ts';
import type { MessagePost, SocketProtocol } from './protocol.ts';

export interface SocketOptions {
  readonly generations: Generations;
  readonly services: ServerServices;
  readonly newId: () => string;
  readonly paused: () => boolean;
  readonly draining: () => boolean;
  /** The controllers of all runs, for the drain. */
  readonly running: Running;
}

/** RFC 6455 §7.4.1, and its registry of close codes. */
const POLICY = 1008;
const TRY_AGAIN_LATER = 1013;
/** Limit on unread responses to messages that have no run. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** A client whose messages are all refused ignores the errors; each message costs a row. */
const MAX_REFUSED = 100;
/** Time for a client to read why its connection ends. */
const GOODBYE_MS = 1000;

/** Serves one connection. It lives through its socket's events; nothing else references it. */
export function serveConnection(
  client: WebSocket,
  request: IncomingMessage,
  options: SocketOptions,
  protocol: SocketProtocol,
): void {
  const connection = new Connection(client, request, options, protocol);
  client.on('message', (data, isBinary) => connection.onMessage({ data, isBinary }));
}

interface Message {
  readonly data: RawData;
  readonly isBinary: boolean;
}

class Connection {
  #client: WebSocket;
  #options: SocketOptions;
  readonly #protocol: SocketProtocol;
  #headers: readonly string[];
  readonly #upgrade: GateRequest;
  #address: string;
  /** The caller admitted with the newest frame. */
  #caller: Caller | undefined;
  #controller: Canceller | undefined;
  #waiting: Message | undefined;
  #release: (() => void) | undefined;
  /** Admission of the newest frame, while undecided. */
  #deciding: Promise<void> | undefined;
  /** Messages refused since the last served one. */
  #refused = 0;

  constructor(
    client: WebSocket,
    request: IncomingMessage,
    options: SocketOptions,
    protocol: SocketProtocol,
  ) {
    this.#client = client;
    this.#options = options;
    this.#protocol = protocol;
    this.#headers = protocol.headersOf(request.rawHeaders);
    const { method, url, httpVersion, rawHeaders, socket } = request;
    this.#upgrade = { method, url, httpVersion, rawHeaders, socket };
    this.#address = request.socket.remoteAddress ?? '';
    const { clock } = options.services;
    const { firstMessageMs } = protocol;
    const stopTimer =
      firstMessageMs === undefined
        ? () => undefined
        : clock.after(firstMessageMs, () => client.close(POLICY, 'no frame arrived'));
    client.once('message', stopTimer);
    countArriving(client, request.socket, options.services.inFlight, (error) => {
      this.#refuse(this.#begin(), error);
      this.#end(TRY_AGAIN_LATER, 'the message was not taken');
    });
    client.on('close', () => {
      stopTimer();
      protocol.close();
      this.#controller?.abort(new Cancelled('client_gone'));
      if (this.#waiting !== undefined) this.#record(this.#begin(), undefined);
      this.#takeWaiting();
    });
    // 'close' follows and does the cleanup.
    client.on('error', () => undefined);
  }

  onMessage(message: Message): void {
    // Frames that arrived before we closed the connection.
    if (this.#client.readyState !== this.#client.OPEN) return;
    const { generations, services, newId } = this.#options;
    // The key may have been revoked since, or may now be required. As over HTTP, a request refused
    // by the gate uses no quota and leaves no row.
    const admission = generations.current.gate(this.#upgrade, 'upgrade');
    if (admission.verdict === 'refused') return this.#sendError(admission.error, newId());
    this.#caller = admission.caller;
    const decision = services.limiter.takeTogether(this.#address);
    if (this.#deciding === undefined && !(decision instanceof Promise))
      return this.#onDecided(message, decision);
    // Frames keep their order, and reading pauses after the current chunk.
    this.#client.pause();
    const decided = Promise.all([decision, this.#deciding]).then(([one]) => {
      if (this.#deciding === decided) {
        this.#deciding = undefined;
        this.#client.resume();
      }
      if (this.#client.readyState === this.#client.OPEN) this.#onDecided(message, one);
      else this.#record(this.#begin(), undefined);
    });
    this.#deciding = decided;
  }

  #onDecided(message: Message, decision: RateDecision | undefined): void {
    const refusal = this.#refusalOf(message, decision);
    if (refusal !== undefined) return this.#refuse(this.#begin(), refusal);
    if (this.#controller === undefined) return void this.#serve(message);
    if (this.#waiting !== undefined) {
      const error = overloaded('One request runs and one waits on this connection; open another');
      return this.#refuse(this.#begin(), error);
    }
    this.#release = this.#options.services.inFlight.claim(sizeOf(message.data));
    if (this.#release === undefined) {
      const error = overloaded('Too many bytes are waiting at once (advanced.max_bytes_in_flight)');
      return this.#refuse(this.#begin(), error);
    }
    this.#waiting = message;
  }

  #takeWaiting(): Message | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#release?.();
    this.#release = undefined;
    return waiting;
  }

  /** Returns why this frame is not accepted as a request, as over HTTP. */
  #refusalOf({ data }: Message, decision: RateDecision | undefined): SvcError | undefined {
    const { generations, draining } = this.#options;
    if (decision?.isAllowed === false) return rateLimited(decision.retryAfterS);
    if (draining()) return shuttingDown();
    // The library enforces the limit from when the connection opened.
    const { maxProxiedRequestBytes } = generations.current.config.limits;
    return sizeOf(data) > maxProxiedRequestBytes
      ? payloadTooLarge(maxProxiedRequestBytes)
      : undefined;
  }

  #sendError(error: SvcError, requestId: string): void {
    this.#tell(this.#protocol.errorText(error, requestId));
  }

  #tell(text: string): void {
    const client = this.#client;
    if (client.readyState !== client.OPEN) return;
    if (client.bufferedAmount > MAX_UNREAD_BYTES) client.terminate();
    else client.send(text);
  }

  #end(code: number, reason: string): void {
    this.#client.close(code, reason);
    // The library holds what has arrived until the connection is closed.
    this.#options.services.clock.after(GOODBYE_MS, () => this.#client.terminate());
  }

  #begin({ signal } = createCanceller()): RunInfo {
    const { clock } = this.#options.services;
    return {
      id: this.#options.newId(),
      clock,
      startedWallMs: clock.wallMs(),
      startedMs: clock.monotonicMs(),
      signal,
    };
  }

  /** Rejects a request before its run, and writes its row. */
  #refuse(info: RunInfo, error: SvcError): void {
    this.#sendError(error, info.id);
    this.#record(info, error);
    this.#refused += 1;
    if (this.#refused >= MAX_REFUSED) this.#end(POLICY, 'too many messages were refused');
  }

  /** Records a request without a run; without an error it was cancelled by its client. */
  #record(info: RunInfo, error: SvcError | undefined): void {
    const { services } = this.#options;
    const { node } = services;
    const keyLabel = this.#caller?.label ?? null;
    const project = namedProject({ headers: this.#headers, caller: this.#caller });
    const startedMs = info.startedWallMs;
    const refused = {
      id: info.id,
      startedMs,
      endpoint: this.#protocol.path,
      node,
      keyLabel,
      project,
    };
    services.ledger.record(refusedRow(refused, error), error?.message);
  }

  async #serve(message: Message): Promise<void> {
    const { generations, running, services } = this.#options;
    const controller = createCanceller();
    this.#controller = controller;
    const info = this.#begin(controller);
    const slot = running.add(controller);
    const generation = generations.current;
    try {
      const headers = this.#headers;
      // `once` applies to one request, the first of the connection.
      this.#headers = withoutHeaders(headers, (name) => name === ALLOW_HEADER);
      const request = this.#protocol.read(message.data, message.isBinary, headers);
      if ('replies' in request) {
        for (const reply of request.replies) this.#tell(reply);
        return;
      }
      const { maxProxiedRequestBytes } = generation.config.limits;
      if (request.bytes.length > maxProxiedRequestBytes)
        throw payloadTooLarge(maxProxiedRequestBytes);
      const head = this.#admitted(request, generation);
      this.#refused = 0;
      const { signal } = controller;
      const sink = new SocketSink({
        form: request.form,
        socket: this.#client,
        signal,
        requestId: info.id,
        gzip: request.gzip,
      });
      const { bytes } = request;
      const received = { method: 'POST', ...head, paused: this.#options.paused() };
      const body = toBodyFrame(received, bytes, bytes, generation.config);
      await runAndReport(generation.planOf(body), body, info, sink, services);
    } catch (thrown) {
      this.#refuse(info, toSvcError(thrown));
    } finally {
      running.remove(slot);
      this.#next();
    }
  }

  /**
   * Returns the admitted request. A frame can carry its own key, so it is judged like the
   * equivalent POST, with the connection's credentials.
   */
  #admitted(
    request: MessagePost,
    generation: Generation,
  ): Served & Pick<ReceivedRequest, 'caller'> {
    const { endpoint, target, headers } = request;
    const admission = generation.gate(this.#protocol.post(this.#upgrade, request), 'upgrade');
    if (admission.verdict === 'refused') throw admission.error;
    const { caller } = admission;
    const head = admittedHead({ endpoint, target, headers }, admission, isGuarded(generation));
    // All frames come from the client that opened the connection; this header never leaves the
    // process.
    const key = headerValue(this.#upgrade.rawHeaders, 'x-svc-key');
    if (key === undefined || headerValue(head.headers, 'x-svc-key') !== undefined)
      return { ...head, caller };
    return { ...head, caller, headers: [...head.headers, 'X-Svc-Key', key] };
  }

  #next(): void {
    this.#controller = undefined;
    const waiting = this.#takeWaiting();
    if (waiting === undefined || this.#client.readyState !== this.#client.OPEN) return undefined;
    // Between two runs the drain may have found nothing to wait for.
    if (this.#options.draining()) return this.#refuse(this.#begin(), shuttingDown());
    void this.#serve(waiting);
  }
}

function sizeOf(data: RawData): number {
  if (!Array.isArray(data)) return data.byteLength;
  return data.reduce((sizeBytes, part) => sizeBytes + part.length, 0);
}
