/**
 * The attempt loop: one provider after another, one key after another, until
 * something can be shown to the client. After the first content nothing is tried
 * again.
 */
import { SvcError } from '../../engine/index.ts';
import type { Answer, RunInfo } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import { providerFailed, providerKeyRejected, providerLimited } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import { requestAdmission } from '../providers/admission.ts';
import type { Admission, Refusal } from '../providers/admission.ts';
import type { ProviderState } from '../providers/states.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import type { Services } from '../services.ts';
import type { ForwardConfig } from './config.ts';
import { keepErrorAnswer } from './kept-error.ts';
import { loadTranslation, prepare } from './prepare.ts';
import type { Preparation, Prepared } from './prepare.ts';
import { readAnswer, readable, toFailure } from './read-answer.ts';

/** A provider that did not answer. */
interface Failed {
  readonly error: SvcError;
  /** False if it was never asked: skipped, or refused by its breaker, keys or pace. */
  readonly wasAsked: boolean;
  /** Its own error answer, where the client may see it. */
  readonly relay?: Answer<ProxyFrame> | undefined;
  /** True if it stood in for another provider and found fault with the request. */
  readonly isObjection?: boolean;
  readonly provider: string;
}

/** What became of one provider. */
type Tried = { readonly answer: Answer<ProxyFrame> } | Failed;

export interface AttemptScope {
  readonly config: ForwardConfig;
  readonly services: Services;
  readonly run: RunInfo;
  /** Every try so far, for the trace; also where all of them failed. */
  readonly attempts: Attempt[];
  /** Chat providers that do not serve the responses path, as found out so far. */
  readonly chatOnly: Set<string>;
  /** Whose answer or failure the client sees. */
  shown(provider: string): void;
  /** Something that was left out or changed knowingly. */
  note(text: string): void;
}

/** An attempt while it goes on. */
type OpenAttempt = { -readonly [K in keyof Attempt]: Attempt[K] };

/** Tries the targets in order. Throws the failure that says most if none of them can answer. */
export async function answerFrom(
  request: ProxyRequest,
  targets: readonly RouteTarget[],
  scope: AttemptScope,
): Promise<Answer<ProxyFrame>> {
  const failures: Failed[] = [];
  for (const [index, target] of targets.entries()) {
    // Only the first one's price was looked at before.
    const fault = index === 0 ? undefined : request.report.spending?.moveTo?.(target);
    const tried =
      fault === undefined
        ? await tryTarget(request, target, index === targets.length - 1, scope)
        : passedOver(scope, target, fault.message, fault);
    if ('answer' in tried) {
      scope.shown(target.provider);
      return tried.answer;
    }
    failures.push(tried);
    if (!mayGoOn(tried.error, scope)) break;
  }
  return mostTelling(failures, scope);
}

/** A client that left, or a fault of our own, is no reason to ask another provider. */
function mayGoOn(error: SvcError, { run }: AttemptScope): boolean {
  return !run.signal.aborted && error.kind !== 'cancelled' && error.kind !== 'internal';
}

/**
 * A provider's own words first, then what went wrong last, then why nobody was asked. What a
 * stand-in finds fault with comes after all of these: it may only be a model that it does not have.
 */
function mostTelling(failures: readonly Failed[], scope: AttemptScope): Answer<ProxyFrame> {
  const weighty = failures.filter((failure) => failure.isObjection !== true);
  const told =
    weighty.findLast((failure) => failure.relay !== undefined) ??
    weighty.findLast((failure) => failure.wasAsked) ??
    weighty.find((failure) => failure.error.kind !== 'bad_request') ??
    failures.findLast((failure) => failure.isObjection) ??
    failures[0];
  if (told?.wasAsked === true) scope.shown(told.provider);
  if (told?.relay !== undefined) return told.relay;
  throw told?.error ?? new SvcError('internal', 'The request has no provider');
}

async function tryTarget(
  request: ProxyRequest,
  target: RouteTarget,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Tried> {
  const { services, config } = scope;
  const provider = services.providers.get(target.provider);
  const state = services.states.get(target.provider);
  if (provider === undefined || state === undefined) {
    const error = new SvcError('internal', `There is no provider named '${target.provider}'`);
    return { error, wasAsked: false, provider: target.provider };
  }
  const identity = config.needsEvents || !isLast;
  const send = (prepared: Preparation): Promise<Tried | 'other_path'> | Failed => {
    if ('needs' in prepared) throw new SvcError('internal', 'The translation was not loaded');
    if ('skip' in prepared) return passedOver(scope, target, prepared.skip);
    for (const text of prepared.ready.notes) scope.note(text);
    return tryProvider(prepared.ready, state, isLast, scope);
  };
  const go = (chatOnly: ReadonlySet<string>): Promise<Tried | 'other_path'> | Failed => {
    const options = { config, services, identity, chatOnly };
    const prepared = prepare(request, target, provider, options);
    if (!('needs' in prepared)) return send(prepared);
    return loadTranslation().then((translation) =>
      send(prepare(request, target, provider, { ...options, translation })),
    );
  };
  const tried = await go(scope.chatOnly);
  if (tried !== 'other_path') return tried;
  const translated = await go(new Set([target.provider]));
  // A 404 on both paths was about the model, and says nothing of the paths.
  if (scope.attempts.at(-1)?.status !== 404) scope.chatOnly.add(target.provider);
  return translated === 'other_path'
    ? { error: providerFailed(404), wasAsked: true, provider: target.provider }
    : translated;
}

/** `target` is not asked; `error` is what is told where nobody else has anything to say. */
function passedOver(
  scope: AttemptScope,
  { provider, model }: RouteTarget,
  why: string,
  error = new SvcError('bad_request', `Provider '${provider}' cannot serve this request: ${why}`),
): Failed {
  begin(scope, provider, model).failure = `skipped: ${why}`;
  return { error, wasAsked: false, provider };
}

/** Puts the next try into the waterfall. */
function begin(scope: AttemptScope, provider: string, model: string | undefined): OpenAttempt {
  const attempt: OpenAttempt = {
    provider,
    model,
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

/** One provider with all of its keys. */
async function tryProvider(
  prepared: Prepared,
  state: ProviderState,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Tried | 'other_path'> {
  const { provider, target } = prepared;
  const triedKeys = new Set<string>();
  let status: number | undefined;
  for (;;) {
    const asked = requestAdmission({
      provider: provider.name,
      state,
      triedKeys,
      usesConfiguredKey: target.credential === 'configured',
      clock: scope.services.clock,
      signal: scope.run.signal,
    });
    const admission = asked instanceof Promise ? await asked : asked;
    if (!admission.admitted) return refused(prepared, admission, status, scope);
    if (admission.waitedMs > 0) {
      const waited = Math.round(admission.waitedMs);
      scope.note(`waited ${waited} ms for the rate limit of ${provider.name}`);
    }
    const tried = await tryOnce(prepared, admission, isLast, scope);
    if (typeof tried !== 'number') return tried;
    status = tried;
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

/**
 * One exchange; a number is the status after which the next key is tried, `other_path` asks for
 * a translation. The admission is given back when it is over: with a live answer, at the answer's end.
 */
async function tryOnce(
  prepared: Prepared,
  admission: Admission,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Tried | number | 'other_path'> {
  const attempt = begin(scope, prepared.provider.name, prepared.model);
  attempt.key = admission.key?.label;
  const { signal } = scope.run;
  try {
    const sent = await scope.services.upstream.send(prepared.wire(admission.key, signal));
    const response = readable(prepared, prepared.answered?.(sent) ?? sent);
    attempt.headMs = sinceStart(scope);
    attempt.status = response.status;
    const verdict = admission.head(response.status, response.headers);
    if (verdict !== 'relay') attempt.failure = `status ${response.status}`;
    if (verdict === 'next_key') return dropped(response, admission);
    if (prepared.isGuess && (response.status === 404 || response.status === 405)) {
      attempt.failure = `status ${dropped(response, admission)}: perhaps no such path`;
      return 'other_path';
    }
    const isObjection = verdict === 'relay' && response.status >= 400 && !prepared.target.isPrimary;
    if (isObjection) attempt.failure = `status ${response.status}`;
    if (isObjection || (verdict === 'next_provider' && !isLast)) {
      return { ...(await setAside(prepared, response, admission, scope)), isObjection };
    }
    const mustHold = !isLast && verdict === 'relay';
    const read = await readAnswer(prepared, response, { mustHold, admission, scope });
    if ('answer' in read) return read;
    attempt.failure = read.error.message;
    return { ...read, wasAsked: true, provider: prepared.provider.name };
  } catch (thrown) {
    admission.failed(thrown, signal);
    admission.release();
    const error = toFailure(thrown);
    attempt.failure = error.message;
    return { error, wasAsked: true, provider: prepared.provider.name };
  }
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
): Promise<Failed> {
  const relay = await keepErrorAnswer(prepared, response, scope);
  admission.release();
  const { status } = response;
  const error = status === 429 ? providerLimited() : providerFailed(status);
  return { error, wasAsked: true, relay, provider: prepared.provider.name };
}
