/**
 * One provider with all of its keys: an exchange with each, until one is answered with something
 * that another key would not change.
 */
import { SvcError, keptText } from '../../engine/index.ts';
import type { Answer } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Unsupported } from '../dialect/translate.ts';
import { providerFailed, providerKeyRejected, providerLimited } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { RouteTarget } from '../model/request.ts';
import { requestAdmission } from '../providers/admission.ts';
import type { Admission, Refusal } from '../providers/admission.ts';
import type { ProviderState } from '../providers/states.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import { keepErrorAnswer } from './kept-error.ts';
import type { Prepared } from './prepared.ts';
import { readAnswer, readable, toFailure } from './read-answer.ts';
import type { Read } from './read-answer.ts';
import { mayRefuse, unsupportedIn } from './unsupported.ts';
import type { AttemptScope } from './attempt-scope.ts';

/** A provider that did not answer. */
export interface Failed {
  readonly error: SvcError;
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
export type Tried = { readonly answer: Answer<ProxyFrame> } | Failed;

/** An attempt while it goes on. */
type OpenAttempt = { -readonly [K in keyof Attempt]: Attempt[K] };

/** `target` is not asked; `error` is the answer where no other provider has one. */
export function passedOver(
  scope: AttemptScope,
  { provider, model }: RouteTarget,
  why: string,
  error = new SvcError('bad_request', `Provider '${provider}' cannot serve this request: ${why}`),
): Failed {
  begin(scope, provider, model).failure = keptText(`skipped: ${why}`);
  return { error, wasAsked: false, isUnfit: true, provider };
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
  let status: number | undefined;
  for (;;) {
    const asked = requestAdmission({
      provider: provider.name,
      state,
      triedKeys,
      usesConfiguredKey: target.credential === 'configured',
      clock: scope.services.clock,
      signal,
    });
    const admission = asked instanceof Promise ? await asked : asked;
    if (!admission.admitted) return refused(prepared, admission, status, scope);
    const fault = status === undefined ? chargeFor(admission, charge) : undefined;
    if (fault !== undefined) return passedOver(scope, target, fault.message, fault);
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
      const read = judge(asking, readable(prepared, prepared.answered?.(sent) ?? sent, scope));
      const tried = read instanceof Promise ? await read : read;
      if (typeof tried !== 'number') return tried;
      status = tried;
    } catch (thrown) {
      return broken(asking, thrown);
    }
  }
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

/** No further try here: `status` is what the last key was answered with, if one was sent. */
function refused(
  { provider, model }: Prepared,
  { why, error }: Refusal,
  status: number | undefined,
  scope: AttemptScope,
): Failed {
  if (status !== undefined)
    return { error: error ?? keysUsedUp(status), wasAsked: true, provider: provider.name };
  begin(scope, provider.name, model).failure = `not asked: ${why}`;
  return { error: error ?? providerFailed(0), wasAsked: false, provider: provider.name };
}

/** Every key was answered alike, and none of them rests. */
function keysUsedUp(status: number): SvcError {
  return status === 401 ? providerKeyRejected() : providerLimited();
}

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

/** What a response means; a number is the status after which the next key is tried. */
function judge(asked: AskedKey, response: UpstreamResponse): Promise<Tried> | Tried | number {
  const { prepared, admission, attempt, scope } = asked;
  const { status } = response;
  attempt.headMs = sinceStart(scope);
  attempt.status = status;
  const verdict = admission.head(status, response.headers);
  if (verdict !== 'accept') attempt.failure = `status ${status}`;
  if (verdict === 'next_key') return dropped(response, admission);
  if (prepared.isGuess && (status === 404 || status === 405)) {
    attempt.failure = `status ${dropped(response, admission)}: perhaps no such path`;
    const { name } = prepared.provider;
    return { error: providerFailed(404), wasAsked: true, isPathMissing: true, provider: name };
  }
  if (verdict === 'accept' && prepared.spare.length > 0 && mayRefuse(status))
    return judgeRefusal(asked, response);
  return judgeAnswer(asked, response, verdict);
}

/** An error that may only be about a part of the request that this provider does not take. */
async function judgeRefusal(asked: AskedKey, response: UpstreamResponse): Promise<Tried> {
  const { prepared, attempt, admission } = asked;
  const read = await unsupportedIn(response, prepared.spare);
  if (read.found === undefined) return judgeAnswer(asked, read.response, 'accept');
  attempt.failure = `status ${dropped(read.response, admission)}: refuses ${read.found}`;
  const { name } = prepared.provider;
  const error = providerFailed(response.status);
  return { error, wasAsked: true, refused: read.found, provider: name };
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
    return setAside(prepared, response, admission, scope, isObjection);
  const mustHold = !isLast && verdict === 'accept';
  const toTried = (read: Read): Tried => {
    if ('answer' in read) return read;
    attempt.failure = keptText(read.error.message);
    attempt.isTimedOut = read.error.kind === 'gateway_timeout';
    return { ...read, wasAsked: true, provider: prepared.provider.name };
  };
  const reading = readAnswer(prepared, response, { mustHold, admission, scope });
  return reading instanceof Promise ? reading.then(toTried) : toTried(reading);
}

/** Something was thrown in place of a response. */
function broken({ prepared, admission, attempt, scope }: AskedKey, thrown: unknown): Failed {
  admission.failed(thrown, scope.run.signal);
  admission.release();
  const error = toFailure(thrown);
  attempt.failure = keptText(error.message);
  attempt.isTimedOut = error.kind === 'gateway_timeout';
  return { error, wasAsked: true, provider: prepared.provider.name };
}

function dropped({ status, body }: UpstreamResponse, admission: Admission): number {
  body.cancel(new Error('it is tried in another way'));
  admission.release();
  return status;
}

/** An error answer is kept for the client while the next provider is asked. */
async function setAside(
  prepared: Prepared,
  response: UpstreamResponse,
  admission: Admission,
  scope: AttemptScope,
  isObjection: boolean,
): Promise<Failed> {
  const errorAnswer = await keepErrorAnswer(prepared, response, scope);
  admission.release();
  const { status } = response;
  const error = status === 429 ? providerLimited() : providerFailed(status);
  return { error, wasAsked: true, errorAnswer, isObjection, provider: prepared.provider.name };
}
