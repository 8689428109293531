/**
 * The upstream over undici's dispatcher. Every limit is set here and none is left to the library's
 * default: head and idle timeouts come from the provider, idle connections close before a server
 * would close them.
 */
import { Agent, buildConnector, errors } from 'undici';
import type { Dispatcher } from 'undici';
import { Cancelled, SvcError, isSvcError } from '../../engine/index.ts';
import type { Turn } from '../../engine/index.ts';
import {
  cannotBeSent,
  providerUnreachable,
  shuttingDown,
  stoppedSending,
  upstreamTimeout,
} from '../model/errors.ts';
import { abortForGood } from './abort-for-good.ts';
import { reasonOf } from './failure-reason.ts';
import { IdleLimit } from './idle-limit.ts';
import { skipContinue } from './interim.ts';
import { ResponseBody } from './response-body.ts';
import type { FlowControl } from './response-body.ts';
import type { Upstream, UpstreamRequest, UpstreamResponse } from './upstream.ts';

/** Opens a connection. */
export type Connector = buildConnector.connector;

/** Below the 30 to 400 seconds after which providers' edges close an idle connection. */
const KEEP_ALIVE_MS = 20_000;
const MAX_CONNECTIONS_PER_ORIGIN = 1024;
/** A provider's head may have many rate-limit headers; more than this is hostile. */
const MAX_HEAD_BYTES = 64 * 1024;

/** The limits of every connection to a provider, direct or not. */
export const outboundLimits = Object.freeze({
  connections: MAX_CONNECTIONS_PER_ORIGIN,
  pipelining: 1,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: MAX_HEAD_BYTES,
  // Both are timed here: the library's own timers tick twice a second.
  headersTimeout: 0,
  bodyTimeout: 0,
  // What a paused socket has read ahead counts against a stream's buffer limit.
  connect: { timeout: 0, highWaterMark: 16 * 1024 },
  // Measured over loopback TLS with 60 KB requests (Node 20, medians of 8 rounds of 150): HTTP/1.1
  // took 0.55 ms alone and 13 ms among 16, HTTP/2 on one connection 1.08 ms and 20 ms, for 1.4 to
  // 1.9 times the processor time. A stream that stalls a shared connection is a drawback too.
  allowH2: false,
});

/** Creates a dispatcher over connections opened by `open`, directly by default. */
export function createAgent(open: Connector = createConnector()): Dispatcher {
  return new Agent({
    ...outboundLimits,
    connect: (options, done) =>
      open(options, (...[error, socket]) =>
        error === null ? done(null, abortForGood(skipContinue(socket))) : done(error, null),
      ),
  });
}

/** Creates the connector for direct connections. */
export function createConnector(): Connector {
  return buildConnector(outboundLimits.connect);
}

/**
 * Creates an upstream that sends through `dispatcher`, which it owns, and responds at the end of
 * each `turn`.
 */
export function createUpstream(dispatcher: Dispatcher, turn: Turn): Upstream {
  return {
    send: (request, call) => new DispatchedRequest(request, turn, call?.onSent).start(dispatcher),
    // A graceful close would wait for connections that are still being opened.
    close: () => dispatcher.destroy(),
  };
}

/**
 * One request and its response, called back by undici through the old handler names: for the newer
 * ones it makes an object of every head's fields and a controller, which are not used here.
 */
class DispatchedRequest implements Dispatcher.DispatchHandler, FlowControl {
  #request: UpstreamRequest;
  #turn: Turn;
  #resolve: (response: UpstreamResponse) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  /** Aborts the connection of the request. */
  #abort: ((error: Error) => void) | undefined;
  #resume: () => void = () => undefined;
  #isPaused = false;
  #body: ResponseBody | undefined;
  #headTimer: NodeJS.Timeout | undefined;
  #idle: IdleLimit;
  #stopped: Error | undefined;
  /** True while the library validates the request: a refusal then never involved a provider. */
  #isLookedAt = false;
  #onSent: (() => void) | undefined;

  constructor(request: UpstreamRequest, turn: Turn, onSent?: () => void) {
    this.#request = request;
    this.#turn = turn;
    this.#onSent = onSent;
    this.#idle = new IdleLimit(request.idleTimeoutMs, () => this.#stop(stoppedSending()));
  }

  start(dispatcher: Dispatcher): Promise<UpstreamResponse> {
    const { signal, headTimeoutMs } = this.#request;
    if (signal.aborted) return Promise.reject(toError(signal.reason));
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      signal.addEventListener('abort', this.#onAbort, { once: true });
      if (headTimeoutMs > 0) {
        this.#headTimer = setTimeout(() => this.#stop(upstreamTimeout()), headTimeoutMs);
      }
      this.#dispatch(dispatcher);
    });
  }

  #dispatch(dispatcher: Dispatcher): void {
    const { origin, path, method, headers, body } = this.#request;
    this.#isLookedAt = true;
    try {
      dispatcher.dispatch(
        {
          origin,
          path,
          method,
          headers: headers as string[],
          body: body ?? null,
        },
        this,
      );
    } catch (thrown) {
      this.#fail(toError(thrown));
    } finally {
      this.#isLookedAt = false;
    }
  }

  #onAbort = (): void => this.#stop(toError(this.#request.signal.reason));

  /** Ends the exchange from our side; the connection is closed with it. */
  #stop(error: Error): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = error;
    if (this.#abort === undefined) this.#fail(error);
    else this.#abort(error);
  }

  #fail(error: Error): void {
    this.#release();
    if (this.#body === undefined) this.#reject(toHeadError(error, this.#isLookedAt));
    else this.#body.fail(toBodyError(error));
  }

  #release(): void {
    clearTimeout(this.#headTimer);
    this.#idle.end();
    this.#request.signal.removeEventListener('abort', this.#onAbort);
  }

  onConnect(abort: (error: Error) => void): void {
    this.#abort = abort;
    if (this.#stopped !== undefined) abort(this.#stopped);
  }

  onRequestSent(): void {
    this.#onSent?.();
  }

  onHeaders(status: number, fields: readonly Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    clearTimeout(this.#headTimer);
    this.#resume = resume;
    const body = new ResponseBody(this, this.#turn);
    this.#body = body;
    const headers = toHeaders(fields);
    this.#turn.first(() => {
      this.#idle.start();
      this.#resolve({ status, headers, body });
    });
    return true;
  }

  /** False pauses the socket until `resume` is called. */
  onData(chunk: Buffer): boolean {
    this.#idle.noteData();
    this.#body?.push(chunk);
    return !this.#isPaused;
  }

  onComplete(): void {
    this.#release();
    this.#body?.end();
  }

  onError(error: Error): void {
    this.#fail(this.#stopped ?? error);
  }

  pause(): void {
    this.#idle.pause();
    this.#isPaused = true;
  }

  resume(): void {
    this.#idle.resume();
    this.#isPaused = false;
    this.#resume();
  }

  cancel(reason: unknown): void {
    this.#stop(toError(reason));
  }
}

/**
 * Copies names and values as texts: slices of the first read would keep all of it alive as long as
 * the stream.
 */
function toHeaders(fields: readonly Buffer[]): string[] {
  const headers: string[] = [];
  for (const field of fields) headers.push(field.toString('latin1'));
  return headers;
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Interprets a failure before the head. A cancelled run keeps its own reason. */
function toHeadError(error: Error, isRefused: boolean): Error {
  if (isSvcError(error) || error instanceof Cancelled) return error;
  if (isOfTheRequest(error)) return cannotBeSent(error);
  if (error instanceof errors.ClientClosedError || error instanceof errors.ClientDestroyedError) {
    return shuttingDown();
  }
  if (isRefused) {
    return new SvcError('internal', `The request was not sent: ${error.message}`, { cause: error });
  }
  if (error instanceof errors.ConnectTimeoutError || error instanceof errors.HeadersTimeoutError) {
    return upstreamTimeout();
  }
  return providerUnreachable(reasonOf(error), error);
}

/** Returns true for faults of a request that the library only finds when writing it. */
function isOfTheRequest(error: Error): boolean {
  return (
    error instanceof errors.InvalidArgumentError ||
    error instanceof errors.NotSupportedError ||
    error instanceof errors.RequestContentLengthMismatchError
  );
}

/** Interprets a failure inside the body. */
function toBodyError(error: Error): Error {
  if (isSvcError(error) || error instanceof Cancelled) return error;
  return new SvcError(
    'bad_gateway',
    'The connection to the provider broke off in the middle of its answer',
    {
      cause: error,
    },
  );
}
