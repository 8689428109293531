/** Chooses the failure that the client gets when no provider has answered. */
import { SvcError } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { AttemptScope } from './attempt-scope.ts';
import type { Failure } from './step.ts';

/**
 * Prefers a provider's own error answer, then the last failure, then the reason why none was
 * called. A fallback's objection to the request comes after all of these: it may only lack the
 * model. Throws if the chosen failure has no error answer of its own.
 */
export function toClient(failures: readonly Failure[], scope: AttemptScope): Answer<ProxyFrame> {
  const decisive = failures.filter(({ how }) => how !== 'objected' && how !== 'spared');
  const chosen =
    decisive.findLast(({ errorAnswer }) => errorAnswer !== undefined) ??
    decisive.findLast(({ how }) => how === 'failed') ??
    decisive.find(({ error }) => error.kind !== 'bad_request') ??
    failures.findLast(({ how }) => how === 'objected') ??
    failures[0];
  if (chosen === undefined) throw new SvcError('internal', 'The request has no provider');
  // Provider, model, status and cause are those of one attempt, wherever they are shown.
  scope.servedBy(chosen.attempt.provider);
  if (chosen.errorAnswer !== undefined) return chosen.errorAnswer;
  chosen.attempt.isShown = true;
  throw withOthers(chosen, failures);
}

/**
 * Returns the failure, with the reasons why other providers did not take over: a user would hardly
 * guess that the request's content is the reason.
 */
function withOthers(chosen: Failure, failures: readonly Failure[]): SvcError {
  const { error } = chosen;
  const others = failures.flatMap((failure) => {
    const { how, attempt } = failure;
    if (failure === chosen) return [];
    if (how === 'objected')
      return `'${attempt.provider}', which stood in, answered ${attempt.status}`;
    return how === 'unfit' && failure.error.kind === 'bad_request' ? failure.error.message : [];
  });
  if (others.length === 0) return error;
  const { kind, code, retryAfterS, allowed, cure } = error;
  const message = [error.message, ...others].join('; ');
  return new SvcError(kind, message, { cause: error, code, retryAfterS, allowed, cure });
}
