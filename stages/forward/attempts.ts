/**
 * The attempt loop: one provider after another, until something can be shown to
 * the client. After the first content nothing is tried again.
 */
import { SvcError } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import { MISMATCHES } from './dropped-thoughts.ts';
import { logFailover } from './failover-log.ts';
import { passedOver, tryProvider } from './try-provider.ts';
import type { Choice, Failed, Tried } from './try-provider.ts';
import type { AttemptScope } from './attempt-scope.ts';
import { prepare } from './prepare.ts';
import type { Unsupported } from '../dialect/translate/translate.ts';
import type { Preparation, PrepareOptions } from './prepared.ts';

/** Tries the targets in order. Throws the failure that says most if none of them can answer. */
export async function answerFrom(
  request: ProxyRequest,
  targets: readonly RouteTarget[],
  scope: AttemptScope,
): Promise<Answer<ProxyFrame>> {
  const failures: Failed[] = [];
  for (let index = 0; index < targets.length; index += 1) {
    const target = targets[index]!;
    // Only the first one's price was looked at before.
    const spending = index === 0 ? undefined : request.report.spending;
    const choice: Choice = {
      target,
      isLast: index === targets.length - 1,
      charge: spending && (() => spending.moveTo?.(target)),
    };
    const fault = spending?.limitFor?.(target);
    const trying =
      fault === undefined
        ? tryTarget(request, choice, scope)
        : passedOver(scope, target, fault.message, fault);
    let tried = trying instanceof Promise ? await trying : trying;
    if ('error' in tried && tried.isPathMissing === true)
      tried = await tryOtherPath(request, choice, scope);
    while ('error' in tried && tried.refused !== undefined)
      tried = await tryWithout(request, choice, scope, tried.refused);
    if ('answer' in tried) {
      scope.servedBy(target.provider);
      if (tried.live !== undefined) scope.goesLive(tried.live);
      logFailover(targets, target, failures, scope);
      return tried.answer;
    }
    failures.push(tried);
    if (!mayGoOn(tried.error, scope)) break;
  }
  return mostInformative(failures, scope);
}

/** A client that left, or a fault of our own, is no reason to ask another provider. */
function mayGoOn(error: SvcError, { run }: AttemptScope): boolean {
  return !run.signal.aborted && error.kind !== 'cancelled' && error.kind !== 'internal';
}

/**
 * A provider's own words first, then what went wrong last, then why nobody was asked. What a
 * stand-in finds fault with comes after all of these: it may only be a model that it does not have.
 */
function mostInformative(failures: readonly Failed[], scope: AttemptScope): Answer<ProxyFrame> {
  const weighty = failures.filter((failure) => failure.isObjection !== true);
  const chosen =
    weighty.findLast((failure) => failure.errorAnswer !== undefined) ??
    weighty.findLast((failure) => failure.wasAsked) ??
    weighty.find((failure) => failure.error.kind !== 'bad_request') ??
    failures.findLast((failure) => failure.isObjection) ??
    failures[0];
  if (chosen === undefined) throw new SvcError('internal', 'The request has no provider');
  // Provider, model, status and cause are those of one attempt, wherever they are shown.
  scope.servedBy(chosen.provider);
  if (chosen.errorAnswer !== undefined) return chosen.errorAnswer;
  chosen.attempt.isShown = true;
  throw withOthers(chosen, failures);
}

/** The failure, and why others did not stand in: nobody would guess that it is for what the request holds. */
function withOthers(chosen: Failed, failures: readonly Failed[]): SvcError {
  const { error } = chosen;
  const others = failures.flatMap((failed) => {
    if (failed === chosen) return [];
    if (failed.isUnfit === true && failed.error.kind === 'bad_request') return failed.error.message;
    const { provider, attempt, isObjection } = failed;
    return isObjection === true ? `'${provider}', which stood in, answered ${attempt.status}` : [];
  });
  if (others.length === 0) return error;
  const { kind, code, retryAfterS, allowed, cure } = error;
  const message = [error.message, ...others].join('; ');
  return new SvcError(kind, message, { cause: error, code, retryAfterS, allowed, cure });
}

function tryTarget(
  request: ProxyRequest,
  choice: Choice,
  scope: AttemptScope,
  {
    chatOnly = scope.chatOnly,
    unsupported = scope.unsupported.of(choice.target),
  }: Partial<Pick<PrepareOptions, 'chatOnly' | 'unsupported'>> = {},
): Promise<Tried> | Tried {
  const { services, config } = scope;
  const { target, isLast } = choice;
  const provider = services.providers.get(target.provider);
  const state = services.states.get(target.provider);
  if (provider === undefined || state === undefined) {
    throw new SvcError('internal', `There is no provider named '${target.provider}'`);
  }
  const options = {
    config,
    services,
    identity: scope.needsEvents || !isLast,
    chatOnly,
    unsupported,
  };
  const send = (prepared: Preparation): Promise<Tried> | Tried => {
    if ('skip' in prepared) return passedOver(scope, target, prepared.skip);
    for (const text of prepared.ready.notes) scope.note(text);
    scope.cached(prepared.ready.caching);
    scope.stands(prepared.ready.sent);
    scope.leftOut(provider.name, prepared.ready.notes);
    return tryProvider(prepared.ready, state, choice, scope);
  };
  const prepared = prepare(request, target, provider, options);
  return prepared instanceof Promise ? prepared.then(send) : send(prepared);
}

/** The provider answered as if it had no such path: the request once more, translated to one that it has. */
async function tryOtherPath(
  request: ProxyRequest,
  choice: Choice,
  scope: AttemptScope,
): Promise<Tried> {
  const { provider } = choice.target;
  // What it costs was asked for the first path.
  const again: Choice = { ...choice, charge: undefined };
  const tried = await tryTarget(request, again, scope, { chatOnly: new Set([provider]) });
  // A 404 on both paths was about the model, and says nothing of the paths.
  if (scope.attempts.at(-1)?.status !== 404) scope.chatOnly.add(provider);
  return tried;
}

/** The provider refused a part of the request that it can do without: once more without it, as everything for it from now on. */
async function tryWithout(
  request: ProxyRequest,
  choice: Choice,
  scope: AttemptScope,
  part: Unsupported,
): Promise<Tried> {
  // What it costs was asked for the first time.
  const again: Choice = { ...choice, charge: undefined };
  const unsupported = new Set([...scope.unsupported.of(choice.target), part]);
  if (part === MISMATCHES) {
    noteMismatches(request, choice.target.provider, scope);
    return tryTarget(request, again, scope, { unsupported });
  }
  const tried = await tryTarget(request, again, scope, { unsupported });
  const status = scope.attempts.at(-1)?.status ?? 0;
  // Another refusal after it is about something else.
  if (status < 400 || ('error' in tried && tried.refused !== undefined))
    scope.unsupported.add(choice.target, part);
  return tried;
}

/** What does not match is the conversation's affair, not the provider's: it asks so from now on. */
function noteMismatches(request: ProxyRequest, provider: string, scope: AttemptScope): void {
  const { conversations, log } = scope.services;
  scope.note(`${provider} refused thoughts that do not match; it was asked to leave them out`);
  log.warning('a provider refused thoughts that do not match what was sent before them', {
    provider,
    request: scope.run.id,
  });
  conversations.noteRefusal();
  conversations.memoryOf(request).set({ dropsThoughts: true });
}
