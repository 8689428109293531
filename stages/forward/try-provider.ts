/**
 * One provider with all of its keys: an exchange with each, until the response is one that another
 * key would not change.
 */
import type { SvcError } from '../../engine/index.ts';
import { providerFailed, providerKeyRejected, providerLimited } from '../model/errors.ts';
import type { RouteTarget } from '../model/request.ts';
import { requestAdmission } from '../providers/admission.ts';
import type { Admission, Refusal } from '../providers/admission.ts';
import type { ProviderState } from '../providers/states.ts';
import type { AttemptScope } from './attempt-scope.ts';
import { exchange } from './exchange.ts';
import type { Prepared } from './request/prepared.ts';
import { begin, outcomeAfterFailure, passedOver } from './step.ts';
import type { Outcome, TargetStep, RejectedKey } from './step.ts';

/** One provider to try. */
export interface Choice {
  readonly target: RouteTarget;
  /** True if no other provider is left. */
  readonly isLast: boolean;
  /** True if another provider can be tried before it. */
  readonly mayBeSpared: boolean;
  /**
   * Called once, when nothing else prevents the attempt: returns the limit that its price would
   * exceed. Absent if that was checked before.
   */
  readonly charge: (() => SvcError | undefined) | undefined;
}

/**
 * Tries one provider with all of its keys, one exchange after another. The admission to each is
 * released when the exchange is over, for a live answer at the answer's end.
 */
export async function tryProvider(
  prepared: Prepared,
  state: ProviderState,
  { target, isLast, charge }: Choice,
  scope: AttemptScope,
): Promise<TargetStep> {
  const { services, run } = scope;
  const { provider, sent } = prepared;
  const preferredKey = sent && services.conversations.keyOf(sent.request, provider.name);
  const triedKeys = new Set<string>();
  let last: RejectedKey | undefined;
  for (;;) {
    const admission = await requestAdmission({
      provider: provider.name,
      state,
      triedKeys,
      preferredKey,
      usesConfiguredKey: target.credential === 'configured',
      clock: services.clock,
      signal: run.signal,
    });
    if (!admission.admitted) return failureOfRefusal(prepared, admission, last, scope);
    const fault = last === undefined ? chargeFor(admission, charge) : undefined;
    if (fault !== undefined) return passedOver(scope, target, fault.message, fault);
    noteKey(prepared, admission, scope);
    const step = await exchange(prepared, admission, isLast, scope);
    if (step.next !== 'next_key') return step;
    last = step.last;
  }
}

/**
 * Thinking may be bound to the account: the conversation continues with the key that it began with.
 */
function noteKey(
  { sent, provider: { name } }: Prepared,
  { keyId, key }: Admission,
  scope: AttemptScope,
): void {
  if (keyId === undefined || sent === undefined) return;
  if (scope.services.conversations.noteKey(sent.request, name, keyId)) return;
  const note = `the conversation began with another key of ${name} than '${key?.label ?? ''}'`;
  scope.state.notes.push(`${note}: its thoughts may be dropped`);
}

/**
 * Charged only now: an allowance charged earlier would be lost if the provider were not called
 * after all.
 */
function chargeFor(admission: Admission, charge: Choice['charge']): SvcError | undefined {
  let mayGo = false;
  try {
    const fault = charge?.();
    mayGo = fault === undefined;
    return fault;
  } finally {
    if (!mayGo) admission.release();
  }
}

const UNASKED_REASONS: Readonly<Record<Refusal['why'], string>> = {
  stopped: 'stopped',
  breaker: 'its circuit breaker is open',
  keys: 'no key of it can be used now',
  pace: 'its requests per minute are used up',
};

/** No key may be tried; `last` is the response for the last one, if one was sent. */
function failureOfRefusal(
  { provider, model }: Prepared,
  { why, error }: Refusal,
  last: RejectedKey | undefined,
  scope: AttemptScope,
): Outcome {
  if (last !== undefined) {
    const { status, errorAnswer, attempt } = last;
    return outcomeAfterFailure(scope, {
      how: 'failed',
      error: error ?? keysUsedUp(status),
      attempt,
      errorAnswer,
    });
  }
  const attempt = begin(scope, provider.name, model);
  attempt.failure = `not asked: ${UNASKED_REASONS[why]}`;
  return outcomeAfterFailure(scope, { how: 'unasked', error: error ?? providerFailed(0), attempt });
}

/** Every key was turned away, and none of them is in cooldown. */
function keysUsedUp(status: number): SvcError {
  if (status === 429) return providerLimited();
  return status === 401 ? providerKeyRejected() : providerKeyRejected(`status ${status}`);
}
