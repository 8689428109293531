/**
 * One provider with all of its keys: an exchange with each, until one is answered with something
 * that another key would not change.
 */
import { SvcError, keptText } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Unsupported } from '../dialect/translate/translate.ts';
import { providerFailed, providerKeyRejected, providerLimited } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { RouteTarget } from '../model/request.ts';
import { requestAdmission } from '../providers/admission.ts';
import type { Admission, Refusal } from '../providers/admission.ts';
import type { ProviderState } from '../providers/states.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import { mayBeOfAccount } from '../providers/account.ts';
import type { AccountTrouble } from '../providers/account.ts';
import { troubleIn } from './error-words.ts';
import { keepErrorAnswer } from './kept-error.ts';
import type { Prepared } from './prepared.ts';
import { readAnswer, readable, toFailure } from './read-answer.ts';
import type { Read } from './read-answer.ts';
import { mayRefuse, unsupportedIn } from './unsupported.ts';
import type { AttemptScope, LiveSteps } from './attempt-scope.ts';

/** An attempt while it goes on. */
export type OpenAttempt = { -readonly [K in keyof Attempt]: Attempt[K] };

/** A provider that did not answer. */
export interface Failed {
  readonly error: SvcError;
  /** Its place in the waterfall: the last try, or that there was none. */
  readonly attempt: OpenAttempt;
  /** False if it was never asked: skipped, or refused by its breaker, keys or pace. */
  readonly wasAsked: boolean;
  /** Its own error answer, where the client may see it. */
  readonly errorAnswer?: Answer<ProxyFrame> | undefined;
  /** True if it stood in for another provider and found fault with the request. */
  readonly isObjection?: boolean;
  /** True if it was left out because of what the request needs or costs, not for how it is doing. */
  readonly isUnfit?: boolean;
  /** True if it may only lack the path, and can be asked on another one. */
  readonly isPathMissing?: boolean;
  /** What it refused of the request, which can do without. */
  readonly refused?: Unsupported;
  readonly provider: string;
}

/** One provider to be tried. */
export interface Choice {
  readonly target: RouteTarget;
  /** True if nobody else is left. */
  readonly isLast: boolean;
  /** Asked once, when nothing else stands in the way: the limit that its price would pass. Absent where that was looked at before. */
  readonly charge: (() => SvcError | undefined) | undefined;
}

/** What became of one provider. */
export type Tried = { readonly answer: Answer<ProxyFrame>; readonly live?: LiveSteps } | Failed;

/** How a key was answered that another one of the same provider may do better than. */
interface TurnedAway {
  readonly status: number;
  readonly attempt: OpenAttempt;
  /** Its error answer, where that says more than that the keys are used up. */
  readonly errorAnswer?: Answer<ProxyFrame> | undefined;
}

/** `target` is not asked; `error` is the answer where no other provider has one. */
export function passedOver(
  scope: AttemptScope,
  { provider, model }: RouteTarget,
  why: string,
  error = new SvcError('bad_request', `Provider '${provider}' cannot serve this request: ${why}`),
): Failed {
  const attempt = begin(scope, provider, model);
  attempt.failure = keptText(`skipped: ${why}`);
  return { error, attempt, wasAsked: false, isUnfit: true, provider };
}

/** Puts the next try into the waterfall. */
function begin(scope: AttemptScope, provider: string, model: string | undefined): OpenAttempt {
  const attempt: OpenAttempt = {
    provider,
    // Attempts are kept with the trace.
    model: model && keptText(model),
    key: undefined,
    startedMs: sinceStart(scope),
    headMs: undefined,
    status: undefined,
    failure: undefined,
  };
  scope.attempts.push(attempt);
  return attempt;
}

function sinceStart({ run }: AttemptScope): number {
  return run.clock.monotonicMs() - run.startedMs;
}

/**
 * One provider with all of its keys, one exchange after another. The admission to each is given
 * back when it is over: with a live answer, at the answer's end.
 */
export async function tryProvider(
  prepared: Prepared,
  state: ProviderState,
  { target, isLast, charge }: Choice,
  scope: AttemptScope,
): Promise<Tried> {
  const { provider } = prepared;
  const { signal } = scope.run;
  const triedKeys = new Set<string>();
  let last: TurnedAway | undefined;
  for (;;) {
    const asked = requestAdmission({
      provider: provider.name,
      state,
      triedKeys,
      preferredKey: prepared.preferredKey,
      usesConfiguredKey: target.credential === 'configured',
      clock: scope.services.clock,
      signal,
    });
    const admission = asked instanceof Promise ? await asked : asked;
    if (!admission.admitted) return refused(prepared, admission, last, scope);
    const fault = last === undefined ? chargeFor(admission, charge) : undefined;
    if (fault !== undefined) return passedOver(scope, target, fault.message, fault);
    noteKey(prepared, admission, scope);
    const attempt = open(prepared, admission, scope);
    const asking = { prepared, admission, attempt, isLast, scope };
    try {
      const call = {
        runId: scope.run.id,
        attempt: scope.attempts.length - 1,
        provider: provider.name,
        onSent: () => {
          attempt.isSent = true;
        },
      };
      const wire = prepared.wire(admission.key, signal);
      const sent = await scope.services.upstream.send(wire, call);
      const answered = readable(prepared, prepared.answered?.(sent) ?? sent, scope);
      const read = saysWhy(asking, answered)
        ? judgeWords(asking, answered)
        : judge(asking, answered, undefined);
      const tried = read instanceof Promise ? await read : read;
      if (!('status' in tried)) return tried;
      last = tried;
    } catch (thrown) {
      return broken(asking, thrown);
    }
  }
}

/** Thoughts may be bound to the account: the conversation goes on with the key that it began with. */
function noteKey(prepared: Prepared, { keyId, key }: Admission, scope: AttemptScope): void {
  const { noteKey: note, provider } = prepared;
  if (keyId === undefined || note === undefined) return;
  if (note(keyId)) return;
  const words = `the conversation began with another key of ${provider.name} than '${key?.label ?? ''}'`;
  scope.note(`${words}: its thoughts may be dropped`);
}

/** Only now: an allowance that this uses up would be lost on a provider that is not asked after all. */
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

/** Gives up on this provider; `last` is how its last key was answered, if one was sent. */
function refused(
  { provider, model }: Prepared,
  { why, error }: Refusal,
  last: TurnedAway | undefined,
  scope: AttemptScope,
): Failed {
  if (last !== undefined) {
    const { status, errorAnswer, attempt } = last;
    const used = { error: error ?? keysUsedUp(status), attempt, wasAsked: true };
    return { ...used, errorAnswer, provider: provider.name };
  }
  const attempt = begin(scope, provider.name, model);
  attempt.failure = `not asked: ${why}`;
  const { name } = provider;
  return { error: error ?? providerFailed(0), attempt, wasAsked: false, provider: name };
}

/** Every key was turned away, and none of them rests. */
function keysUsedUp(status: number): SvcError {
  if (status === 429) return providerLimited();
  return status === 401 ? providerKeyRejected() : providerKeyRejected(`status ${status}`);
}

/** What the trace adds to the status. */
const TROUBLES: Readonly<Record<AccountTrouble | 'none', string>> = {
  none: '',
  no_credit: ': no credit left',
  refused: '',
  no_access: ': no access to the model',
};

/** One request that is on its way to a provider with one key. */
interface AskedKey {
  readonly prepared: Prepared;
  readonly admission: Admission;
  readonly attempt: OpenAttempt;
  readonly isLast: boolean;
  readonly scope: AttemptScope;
}

/** The next attempt in the waterfall, after what it took to be admitted. */
function open(
  { provider, model }: Prepared,
  admission: Admission,
  scope: AttemptScope,
): OpenAttempt {
  if (admission.waitedMs > 0) {
    const waited = Math.round(admission.waitedMs);
    scope.note(`waited ${waited} ms for the rate limit of ${provider.name}`);
  }
  const attempt = begin(scope, provider.name, model);
  attempt.key = admission.key?.label;
  return attempt;
}

/** True where the words of an error decide whether another key or provider is asked. */
function saysWhy({ admission, isLast }: AskedKey, { status }: UpstreamResponse): boolean {
  return mayBeOfAccount(status) && (admission.key !== undefined || !isLast);
}

/** The same as `judge`, by the words of an error answer. */
async function judgeWords(
  asked: AskedKey,
  answered: UpstreamResponse,
): Promise<Tried | TurnedAway> {
  asked.attempt.headMs = sinceStart(asked.scope);
  // Another key or provider is asked whatever the words are, or else the client gets to see them.
  const isDispensable = asked.admission.key !== undefined && answered.status !== 400;
  const { clock } = asked.scope.services;
  return judge(asked, answered, await troubleIn(answered, isDispensable, clock));
}

/** What a response means, or that the next key is tried. */
function judge(
  asked: AskedKey,
  response: UpstreamResponse,
  trouble: AccountTrouble | undefined,
): Promise<Tried | TurnedAway> | Tried | TurnedAway {
  const { prepared, admission, attempt, scope } = asked;
  const { status } = response;
  attempt.headMs ??= sinceStart(scope);
  attempt.status = status;
  const verdict = admission.head(status, response.headers, trouble);
  if (verdict !== 'accept') attempt.failure = `status ${status}${TROUBLES[trouble ?? 'none']}`;
  if (verdict === 'next_key') {
    if (trouble !== undefined) return turnedAway(prepared, response, admission, attempt, scope);
    drop(response, admission);
    return { status, attempt };
  }
  if (prepared.isGuess && (status === 404 || status === 405)) {
    drop(response, admission);
    attempt.failure = `status ${status}: perhaps no such path`;
    const error = providerFailed(404);
    const { name } = prepared.provider;
    return { error, attempt, wasAsked: true, isPathMissing: true, provider: name };
  }
  if (verdict === 'accept' && prepared.spare.length > 0 && mayRefuse(status))
    return judgeRefusal(asked, response);
  return judgeAnswer(asked, response, verdict);
}

/** An error that may only be about a part of the request that this provider does not take. */
async function judgeRefusal(asked: AskedKey, response: UpstreamResponse): Promise<Tried> {
  const { prepared, attempt, admission } = asked;
  const found = await unsupportedIn(response, prepared.spare);
  if (found === undefined) return judgeAnswer(asked, response, 'accept');
  drop(response, admission);
  attempt.failure = `status ${response.status}: refuses ${found}`;
  const { name } = prepared.provider;
  const error = providerFailed(response.status);
  return { error, attempt, wasAsked: true, refused: found, provider: name };
}

function judgeAnswer(
  { prepared, admission, attempt, isLast, scope }: AskedKey,
  response: UpstreamResponse,
  verdict: ReturnType<Admission['head']>,
): Promise<Tried> | Tried {
  const { status } = response;
  const isObjection = verdict === 'accept' && status >= 400 && !prepared.target.isPrimary;
  if (isObjection) attempt.failure = `status ${status}`;
  if (isObjection || (verdict === 'next_provider' && !isLast))
    return setAside(prepared, response, { admission, attempt, scope }, isObjection);
  const mustHold = !isLast && verdict === 'accept';
  const toTried = (read: Read): Tried => {
    if ('answer' in read) return read;
    attempt.failure = keptText(read.error.message);
    attempt.isTimedOut = read.error.kind === 'gateway_timeout';
    return { ...read, attempt, wasAsked: true, provider: prepared.provider.name };
  };
  return readAnswer(prepared, response, { mustHold, admission, scope }).then(toTried);
}

/** Something was thrown in place of a response. */
function broken({ prepared, admission, attempt, scope }: AskedKey, thrown: unknown): Failed {
  admission.failed(thrown, scope.run.signal);
  admission.release();
  const error = toFailure(thrown);
  attempt.failure = keptText(error.message);
  attempt.isTimedOut = error.kind === 'gateway_timeout';
  return { error, attempt, wasAsked: true, provider: prepared.provider.name };
}

function drop({ body }: UpstreamResponse, admission: Admission): void {
  body.cancel(new Error('it is tried in another way'));
  admission.release();
}

/** The next key is tried; where none is left, the client gets to see why. */
async function turnedAway(
  prepared: Prepared,
  response: UpstreamResponse,
  admission: Admission,
  attempt: OpenAttempt,
  scope: AttemptScope,
): Promise<TurnedAway> {
  const errorAnswer = await keepErrorAnswer(prepared, response, scope);
  admission.release();
  return { status: response.status, attempt, errorAnswer };
}

/** An error answer is kept for the client while the next provider is asked. */
async function setAside(
  prepared: Prepared,
  response: UpstreamResponse,
  { admission, attempt, scope }: Pick<AskedKey, 'admission' | 'attempt' | 'scope'>,
  isObjection: boolean,
): Promise<Failed> {
  const errorAnswer = await keepErrorAnswer(prepared, response, scope);
  admission.release();
  const { status } = response;
  const error = status === 429 ? providerLimited() : providerFailed(status);
  const { name } = prepared.provider;
  return { error, attempt, wasAsked: true, errorAnswer, isObjection, provider: name };
}
