/**
 * The result of one attempt. Each attempt at a provider ends in a `Step`, which names what happens
 * next; `attempts.ts` follows the steps until one of them is an `Outcome` of the provider.
 */
import { SvcError, truncateText } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import type { Unsupported } from '../dialect/translate/translate.ts';
import type { Attempt } from '../model/attempt.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { RouteTarget } from '../model/request.ts';
import type { AttemptScope, LiveSteps } from './attempt-scope.ts';

/** A running attempt. */
export type OpenAttempt = { -readonly [K in keyof Attempt]: Attempt[K] };

/**
 * How a provider failed:
 *
 * - `unfit`: skipped because of what the request needs or costs, not because of its state;
 * - `spared`: moved to the end because little of its plan is left;
 * - `unasked`: refused by its breaker, keys or pace before anything was sent;
 * - `failed`: called, without a usable answer;
 * - `objected`: as a fallback, it rejected the request itself.
 */
export type FailureKind = 'unfit' | 'spared' | 'unasked' | 'failed' | 'objected';

/** A provider that did not answer. */
export interface Failure {
  readonly how: FailureKind;
  readonly error: SvcError;
  /** Its entry in the waterfall: the last attempt, or the fact that there was none. */
  readonly attempt: OpenAttempt;
  /** Its own error answer, if the client may see it. */
  readonly errorAnswer?: Answer<ProxyFrame> | undefined;
}

/** The result for one provider. */
export type Outcome =
  /** The client gets this answer. */
  | { readonly next: 'answer'; readonly answer: Answer<ProxyFrame>; readonly live?: LiveSteps }
  | { readonly next: 'next_provider'; readonly failure: Failure }
  /** No further provider is called: the client left, or the fault is our own. */
  | { readonly next: 'give_up'; readonly failure: Failure };

/** The result of one exchange. */
export type Step =
  | Outcome
  /** Another key of the same provider may succeed. */
  | { readonly next: 'next_key'; readonly last: RejectedKey }
  /** It may only lack the path, and is called on another one. */
  | { readonly next: 'other_endpoint' }
  /** It is called again without this part, which the request can do without. */
  | { readonly next: 'without'; readonly part: Unsupported };

/** The same, when all keys of a provider are used up. */
export type TargetStep = Exclude<Step, { readonly next: 'next_key' }>;

/** The response for the last key. */
export interface RejectedKey {
  readonly status: number;
  readonly attempt: OpenAttempt;
  /** Its error answer, if that says more than that the keys are used up. */
  readonly errorAnswer?: Answer<ProxyFrame> | undefined;
}

/** Milliseconds since the first byte of the request. */
export function sinceStart({ run }: AttemptScope): number {
  return run.clock.monotonicMs() - run.startedMs;
}

/** Adds the next attempt to the waterfall. */
export function begin(
  scope: AttemptScope,
  provider: string,
  model: string | undefined,
): OpenAttempt {
  const attempt: OpenAttempt = {
    provider,
    // Attempts are kept with the trace.
    model: model && truncateText(model),
    key: undefined,
    startedMs: sinceStart(scope),
    headMs: undefined,
    status: undefined,
    failure: undefined,
  };
  scope.attempts.push(attempt);
  return attempt;
}

/**
 * Returns the step after a failure: if the client left, or the fault is our own, no other provider
 * is called.
 */
export function outcomeAfterFailure({ run }: AttemptScope, failure: Failure): Outcome {
  const { kind } = failure.error;
  const isOver = run.signal.aborted || kind === 'cancelled' || kind === 'internal';
  return { next: isOver ? 'give_up' : 'next_provider', failure };
}

/** Prefix of the failure of a target that was not called. */
export const PASSED_OVER = 'skipped: ';

/** Skips `target` for now; `error` is the response if no other provider has one. */
export function passedOver(
  scope: AttemptScope,
  { provider, model }: RouteTarget,
  why: string,
  error = new SvcError('bad_request', `Provider '${provider}' cannot serve this request: ${why}`),
  how: FailureKind = 'unfit',
): Outcome {
  const attempt = begin(scope, provider, model);
  attempt.failure = truncateText(`${PASSED_OVER}${why}`);
  return outcomeAfterFailure(scope, { how, error, attempt });
}
