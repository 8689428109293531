/** An answer's body on its way to the client, with what becomes of it told to whoever keeps count. */
import type { CancelSignal } from '../../engine/index.ts';
import type { UsageObserver } from '../dialect/dialect.ts';
import { streamCutShort } from '../model/errors.ts';
import type { HeadFrame } from '../model/frame.ts';
import type { Admission } from '../providers/admission.ts';
import type { UpstreamBody } from '../providers/upstream.ts';
import { createErrorWatch } from './error-events.ts';
import type { ErrorWatch } from './error-events.ts';
import { isPlain } from './head.ts';
import type { Source } from './hold.ts';
import type { ReadOptions } from './read-answer.ts';

/** The body behind `pieces`, with what becomes of it told to the provider's breaker. */
export function watch(
  { pieces, body }: Source,
  head: HeadFrame,
  options: ReadOptions,
): UpstreamBody {
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
