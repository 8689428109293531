/**
 * One attempt at a provider, from admission to its final outcome: the order in which breaker, keys
 * and pace are checked, and what is reported to each of them afterwards.
 *
 * | response head               | with a configured key                | with the client's own, or none      |
 * |-----------------------------|--------------------------------------|-------------------------------------|
 * | 429                         | the key cools down; `next_key`       | `next_provider`                     |
 * | 401, 403                    | the key cools down; `next_key`       | `accept`: left to the client        |
 * | 402, or no credit           | the key cools down; `next_key`       | `next_provider`                     |
 * | no access to the model      | `next_key`                           | `accept`                            |
 * | 5xx of `outcome.ts`         | counts as failure; `next_provider`   | the same                            |
 * | anything else               | `accept`                              | `accept`                             |
 *
 * A 2xx is not yet a success: that is reported through `content`, when the first content arrived or
 * the document was complete. `failed` may follow it, for a stream that broke. `release` ends every
 * attempt and reports nothing if something was reported before.
 */
import { isSvcError } from '../../engine/index.ts';
import type { CancelSignal, Clock, SvcError } from '../../engine/index.ts';
import { circuitOpen, providerStopped } from '../model/errors.ts';
import type { AccountProblem } from './account.ts';
import type { Headers } from '../model/headers.ts';
import type { BreakerOutcome, BreakerPass } from './breaker.ts';
import { keyFault } from './keys.ts';
import type { NoKey, PickedKey } from './keys.ts';
import { isProviderFailure, outcomeOfFailure, outcomeOfStatus } from './outcome.ts';
import type { ProviderKey, ProviderName } from './provider.ts';
import { retryAfterMs } from './retry-after.ts';
import type { ProviderState } from './states.ts';

/** What to do with a response: pass it to the client, or retry. */
export type HeadVerdict = 'accept' | 'next_key' | 'next_provider';

/** An attempt that may not be made, and the error to return if no other succeeds. */
export interface Refusal {
  readonly admitted: false;
  readonly why: 'stopped' | 'breaker' | 'keys' | 'pace';
  /** Undefined if this request has tried every usable key: its last answer is more informative. */
  readonly error: SvcError | undefined;
}

export interface AdmissionRequest {
  readonly provider: ProviderName;
  readonly state: ProviderState;
  /** Ids of the keys that this request has tried; `requestAdmission` adds the one it picks. */
  readonly triedKeys: Set<string>;
  /** The id of the key to use while it is usable. */
  readonly preferredKey?: string | undefined;
  /** True if a configured key is sent. */
  readonly usesConfiguredKey: boolean;
  readonly clock: Clock;
  readonly signal: CancelSignal;
}

/**
 * Requests one attempt: returns its admission, perhaps after a wait for `rpm`, or the reason
 * against it. Rejects with the signal's reason if it aborts meanwhile.
 */
export async function requestAdmission(request: AdmissionRequest): Promise<Admission | Refusal> {
  const { state, signal } = request;
  if (state.stopped !== undefined) {
    return { admitted: false, why: 'stopped', error: providerStopped(request.provider) };
  }
  // Do not queue for a provider that would not be called anyway.
  if (state.breaker.isOpen()) {
    return openRefusal(request.provider, state.breaker.view().openForS);
  }
  const isCooling = request.usesConfiguredKey && !state.keys.isUsable();
  const early = isCooling ? state.keys.pick(request.triedKeys) : undefined;
  if (early?.usable === false) return keyRefusal(state, early);
  let waitedMs = 0;
  try {
    if (state.pace !== undefined) waitedMs = await state.pace.enter(signal);
  } catch (thrown) {
    if (isSvcError(thrown)) return { admitted: false, why: 'pace', error: thrown };
    throw thrown;
  }
  const picked = pickKey(request);
  if (picked !== undefined && 'admitted' in picked) return picked;
  const pass = state.breaker.tryEnter();
  if (!pass.ok) return openRefusal(request.provider, pass.openForS);
  const claim = pass.probe ? state.claimProbe() : undefined;
  if (claim === undefined || (await claim)) return new Admission(request, pass, picked, waitedMs);
  // Another proxy is probing, or has finished meanwhile: perhaps the provider has recovered.
  const again = state.breaker.tryEnter();
  if (!again.ok) return openRefusal(request.provider, again.openForS);
  return new Admission(request, again, picked, waitedMs);
}

function openRefusal(provider: ProviderName, openForS: number): Refusal {
  return { admitted: false, why: 'breaker', error: circuitOpen(provider, openForS) };
}

function pickKey({
  state,
  triedKeys,
  preferredKey,
  usesConfiguredKey,
}: AdmissionRequest): PickedKey | Refusal | undefined {
  if (!usesConfiguredKey) return undefined;
  const pick = state.keys.pick(triedKeys, preferredKey);
  if (!pick.usable) return keyRefusal(state, pick);
  triedKeys.add(pick.id);
  return pick;
}

function keyRefusal({ health }: ProviderState, none: NoKey): Refusal {
  if (none.why === 'refused') health.outOfKeys('auth');
  if (none.why === 'cooling') health.outOfKeys('rate_limited');
  return { admitted: false, why: 'keys', error: keyFault(none) };
}

/** An attempt that may be made. */
export class Admission {
  readonly admitted = true;
  /** The configured key to send; undefined if the client's own is sent, or none. */
  readonly key: ProviderKey | undefined;
  /** True for the request by which a breaker probes whether the provider has recovered. */
  readonly isProbe: boolean;
  /** Milliseconds spent in the queue for `rpm`. */
  readonly waitedMs: number;
  readonly #request: AdmissionRequest;
  readonly #pass: BreakerPass;
  readonly #keyId: string | undefined;
  #reported: BreakerOutcome | undefined;

  constructor(
    request: AdmissionRequest,
    pass: BreakerPass,
    picked: PickedKey | undefined,
    waitedMs: number,
  ) {
    this.#request = request;
    this.#pass = pass;
    this.#keyId = picked?.id;
    this.key = picked?.key;
    this.isProbe = pass.probe;
    this.waitedMs = waitedMs;
  }

  /** Id of the configured key; undefined without one. */
  get keyId(): string | undefined {
    return this.#keyId;
  }

  /**
   * Reports the response head, and what the error message says about the account
   * (`accountProblem`).
   */
  head(status: number, headers: Headers, problem?: AccountProblem): HeadVerdict {
    const isGood = status >= 200 && status < 300;
    if (!isGood) this.#settle(problem === 'no_credit' ? 'abandoned' : outcomeOfStatus(status));
    if (isProviderFailure(status)) return 'next_provider';
    const isLimited = status === 429;
    if (this.#keyId === undefined) {
      return isLimited || problem === 'no_credit' ? 'next_provider' : 'accept';
    }
    const { keys } = this.#request.state;
    const askedMs = retryAfterMs(headers, this.#request.clock.wallMs());
    if (problem === 'no_credit') {
      keys.reject(this.#keyId, 'refused', askedMs, `No credit left (${status})`);
    } else if (isLimited) keys.reject(this.#keyId, 'limited', askedMs);
    else if (status === 401 || (status === 400 && problem === 'refused')) {
      keys.reject(this.#keyId, 'refused');
    } else if (problem === 'refused') {
      keys.reject(this.#keyId, 'refused', undefined, `Permission denied (${status})`);
    } else if (problem === undefined) return 'accept';
    return 'next_key';
  }

  /** Reports the first content, or a complete document. */
  content(): void {
    this.#settle('succeeded');
  }

  /** Reports what was thrown instead of an answer or during it; `signal` is the run's. */
  failed(thrown: unknown, signal: CancelSignal): void {
    this.#settle(outcomeOfFailure(thrown, signal));
  }

  /** Reports an error event inside a stream. */
  errorEvent(): void {
    this.#settle('failed');
  }

  /** Must be called when the attempt is over, however it ended. */
  release(): void {
    this.#settle('abandoned');
  }

  /** The first report counts; after a success only a failure is reported. */
  #settle(outcome: BreakerOutcome): void {
    const reported = this.#reported;
    if (reported !== undefined && !(reported === 'succeeded' && outcome === 'failed')) return;
    this.#reported = outcome;
    this.#pass.settle(outcome);
    this.#request.state.health.settle(outcome);
  }
}
