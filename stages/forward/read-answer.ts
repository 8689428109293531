/**
 * From a provider's response to the answer that the client gets, telling the
 * provider's breaker how it went on the way.
 */
import { SvcError, isSvcError } from '../../engine/index.ts';
import type { Answer, CancelSignal } from '../../engine/index.ts';
import type { UsageObserver } from '../dialect/dialect.ts';
import { streamCutShort } from '../model/errors.ts';
import { END } from '../model/frame.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import type { Admission } from '../providers/admission.ts';
import type { UpstreamBody, UpstreamResponse } from '../providers/upstream.ts';
import { gather, isBodiless, isDocument, stream } from './answer.ts';
import type { AttemptScope } from './attempts.ts';
import { createErrorWatch } from './error-events.ts';
import type { ErrorWatch } from './error-events.ts';
import { isPlain, toHead } from './head.ts';
import { ErrorEvent, HOLD_LIMITS, hold } from './hold.ts';
import type { Source } from './hold.ts';
import type { Prepared } from './prepare.ts';
import { createUsageChunkFilter } from './usage-chunk.ts';

export interface ReadOptions {
  /** True while another provider could still take over. */
  readonly mustHold: boolean;
  /** Is told how the exchange goes, and given back at its end. */
  readonly admission: Admission;
  readonly scope: AttemptScope;
}

/** The answer, or why there is none; `relay` is what the provider said instead. */
export type Read =
  | { readonly answer: Answer<ProxyFrame> }
  | { readonly error: SvcError; readonly relay?: Answer<ProxyFrame> };

/** What a failure is called that was thrown before anything was shown. */
export function toFailure(thrown: unknown): SvcError {
  if (isSvcError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : 'it broke off';
  return new SvcError('bad_gateway', `The provider failed before it said anything: ${message}`, {
    cause: thrown,
  });
}

/** Reads on until there is something to show, or a reason to show nothing of it. Never rejects. */
export async function readAnswer(
  prepared: Prepared,
  response: UpstreamResponse,
  options: ReadOptions,
): Promise<Read> {
  const { admission, scope } = options;
  const head = toHead(prepared, response, scope);
  if (isBodiless(response.status, prepared.request.original.body.method)) {
    admission.content();
    admission.release();
    response.body.cancel(undefined);
    return { answer: [head, END] };
  }
  try {
    if (options.mustHold && head.streaming && isPlain(head)) {
      return await readHeld(prepared, response, head, options);
    }
    const source = { pieces: [], body: watch({ pieces: [], body: response.body }, head, options) };
    return { answer: await toAnswer(prepared, head, source, scope) };
  } catch (failed) {
    response.body.cancel(failed);
    admission.failed(failed, scope.run.signal);
    admission.release();
    return { error: toFailure(failed) };
  }
}

async function readHeld(
  prepared: Prepared,
  response: UpstreamResponse,
  head: HeadFrame,
  options: ReadOptions,
): Promise<Read> {
  const { admission, scope } = options;
  const { clock } = scope.services;
  const limits = scope.config.hold ?? HOLD_LIMITS;
  const held = await hold(response.body, prepared.dialect, clock, limits);
  if (!('failed' in held)) {
    scope.note(`held back until ${held.released}`);
    if (held.released === 'content') admission.content();
    const source = { pieces: held.pieces, body: watch(held, head, options) };
    return { answer: await toAnswer(prepared, head, source, scope) };
  }
  const { failed } = held;
  response.body.cancel(new Error('another provider takes over'));
  // A stream that ends before it says anything is a failure of the provider's as well.
  if (isSvcError(failed) || scope.run.signal.aborted) admission.failed(failed, scope.run.signal);
  else admission.errorEvent();
  admission.release();
  const error = toFailure(failed);
  if (!(failed instanceof ErrorEvent)) return { error };
  return { error, relay: await toAnswer(prepared, head, failed.source, scope) };
}

async function toAnswer(
  prepared: Prepared,
  head: HeadFrame,
  source: Source,
  scope: AttemptScope,
): Promise<Answer<ProxyFrame>> {
  const { reading } = prepared;
  if (reading.how !== 'relay' && head.status < 400) {
    const { translatedAnswer } = await import('./translated.ts');
    return translatedAnswer(prepared, reading, head, source, scope.services);
  }
  if (reading.how === 'translate') {
    const { readWhole, translatedError } = await import('./translated.ts');
    return translatedError(prepared, reading.from, head, await readWhole(source.body));
  }
  if (source.pieces.length === 0 && isDocument(head)) return gather(head, source.body);
  const isFiltered = reading.how === 'relay' && reading.asked && head.streaming && isPlain(head);
  const filter = isFiltered ? createUsageChunkFilter() : undefined;
  return stream(head, source.body, { ready: source.pieces, filter });
}

/** The body behind `pieces`, with what becomes of it told to the provider's breaker. */
function watch({ pieces, body }: Source, head: HeadFrame, options: ReadOptions): UpstreamBody {
  const errors = head.streaming && isPlain(head) ? createErrorWatch() : undefined;
  for (const piece of pieces) head.observer?.push(piece);
  return new WatchedBody(body, options, errors, head.observer);
}

class WatchedBody implements UpstreamBody {
  readonly #body: UpstreamBody;
  readonly #admission: Admission;
  readonly #signal: CancelSignal;
  readonly #errors: ErrorWatch | undefined;
  readonly #observer: UsageObserver | undefined;
  #hasContent = false;
  #hasFailed = false;

  constructor(
    body: UpstreamBody,
    { admission, scope }: ReadOptions,
    errors: ErrorWatch | undefined,
    observer: UsageObserver | undefined,
  ) {
    this.#body = body;
    this.#admission = admission;
    this.#signal = scope.run.signal;
    this.#errors = errors;
    this.#observer = observer;
  }

  read(): Promise<Buffer | undefined> {
    return this.#body.read().then(this.#saw, this.#broke);
  }

  poll(): Buffer | undefined | null {
    const piece = this.#body.poll();
    return piece === null ? null : this.#saw(piece);
  }

  cancel(reason: unknown): void {
    this.#admission.release();
    this.#body.cancel(reason);
  }

  #saw = (piece: Buffer | undefined): Buffer | undefined => {
    if (piece === undefined) return this.#ended();
    this.#observer?.push(piece);
    if (this.#errors?.(piece) === true) {
      this.#hasContent = this.#hasFailed = true;
      this.#admission.errorEvent();
    } else if (!this.#hasContent) {
      this.#hasContent = true;
      this.#admission.content();
    }
    return piece;
  };

  /** However cleanly the connection ends: an answer that stops in its middle has failed. */
  #ended(): undefined {
    if (!this.#hasFailed && this.#observer?.isCutShort() === true) {
      const error = streamCutShort();
      this.#admission.failed(error, this.#signal);
      this.#admission.release();
      throw error;
    }
    if (!this.#hasContent) this.#admission.content();
    this.#admission.release();
    return undefined;
  }

  #broke = (thrown: unknown): never => {
    this.#admission.failed(thrown, this.#signal);
    this.#admission.release();
    throw thrown;
  };
}
