/**
 * What an attempt's end says about its provider. Only this table changes the breaker and the health
 * of a provider:
 *
 * | end of the attempt                         | outcome   | why                                    |
 * |--------------------------------------------|-----------|----------------------------------------|
 * | connect error, reset before the head       | failed    |                                        |
 * | head or idle time-out                      | failed    |                                        |
 * | 500, 502, 503, 504, 520–530                | failed    |                                        |
 * | error event inside a 200, body broken off  | failed    | may follow a success                   |
 * | other 1xx–4xx                              | succeeded | it answers; the request was at fault   |
 * | 402, 429                                   | abandoned | it answers, but serves no request      |
 * | other 5xx, such as 501                     | abandoned | about the request as much as about it  |
 * | client gone, shutdown, our own fault       | abandoned | nothing was learnt                     |
 * | a fault in the provider's own hooks        | abandoned | it says nothing about the upstream     |
 *
 * A 429 or an account without credit is not a success either: it must not dilute the failures of
 * others, nor close a breaker as its probe. The keys' cooldown handles it.
 */
import { isSvcError } from '../../engine/index.ts';
import type { CancelSignal } from '../../engine/index.ts';
import type { BreakerOutcome } from './breaker.ts';
import { isShortage } from './failure-reason.ts';
import { isHookFault } from './hook-fault.ts';

const FAILURES: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/**
 * Returns true for a status after which the provider counts as failing and a fallback is tried.
 * 520–530 are Cloudflare's, about the origin server, and Anthropic's 529.
 */
export function isProviderFailure(status: number): boolean {
  return FAILURES.has(status) || (status >= 520 && status <= 530);
}

/** Returns the outcome that a response head implies. */
export function outcomeOfStatus(status: number): BreakerOutcome {
  if (isProviderFailure(status)) return 'failed';
  return status === 402 || status === 429 || status >= 500 ? 'abandoned' : 'succeeded';
}

/**
 * Returns the outcome of a failure without a usable answer: of what the upstream or a reader of its
 * body threw. Pass the run's signal: once it has aborted, the error is our own doing.
 */
export function outcomeOfFailure(thrown: unknown, signal: CancelSignal): BreakerOutcome {
  if (signal.aborted || !isSvcError(thrown) || isHookFault(thrown)) return 'abandoned';
  // A lack of descriptors in this process must not open the breaker of a healthy provider.
  if (isShortage(thrown.cause)) return 'abandoned';
  return thrown.kind === 'bad_gateway' || thrown.kind === 'gateway_timeout'
    ? 'failed'
    : 'abandoned';
}
