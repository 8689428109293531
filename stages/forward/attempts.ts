/**
 * The attempt loop: one provider after another, one key after another, until
 * something can be shown to the client. After the first content nothing is tried
 * again.
 */
import { SvcError, isSvcError, toSvcError } from '../../engine/index.ts';
import type { Answer, RunInfo } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import { providerFailed } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import { requestAdmission } from '../providers/admission.ts';
import type { Admission } from '../providers/admission.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderState } from '../providers/states.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import type { Services } from '../services.ts';
import type { ForwardConfig } from './config.ts';
import { prepare } from './prepare.ts';
import type { Prepared } from './prepare.ts';
import { readAnswer } from './read-answer.ts';

/** What became of one provider. */
type Tried =
  | { readonly answer: Answer<ProxyFrame> }
  /** It failed; `relay` is its own error answer, where the client may see it. */
  | { readonly error: SvcError; readonly relay?: Answer<ProxyFrame> };

export interface AttemptScope {
  readonly config: ForwardConfig;
  readonly services: Services;
  readonly run: RunInfo;
  /** Every try so far, for the trace; also where all of them failed. */
  readonly attempts: Attempt[];
  /** Something that was left out or changed knowingly. */
  note(text: string): void;
}

/** Tries the targets in order. Throws the failure that says most if none of them can answer. */
export async function answerFrom(
  request: ProxyRequest,
  targets: readonly RouteTarget[],
  scope: AttemptScope,
): Promise<Answer<ProxyFrame>> {
  const failures: Exclude<Tried, { answer: unknown }>[] = [];
  for (const [index, target] of targets.entries()) {
    const provider = scope.services.providers.get(target.provider);
    const state = scope.services.states.get(target.provider);
    if (provider === undefined || state === undefined) continue;
    const isLast = index === targets.length - 1;
    const prepared = prepare(request, target, provider, {
      config: scope.config,
      services: scope.services,
      identity: scope.config.needsEvents || !isLast,
    });
    if ('skip' in prepared) {
      failures.push({ error: passedOver(scope, target, provider, prepared.skip) });
      continue;
    }
    for (const text of prepared.ready.notes) scope.note(text);
    const tried = await tryProvider(prepared.ready, state, isLast, scope);
    if ('answer' in tried) return tried.answer;
    failures.push(tried);
    if (!mayGoOn(tried.error)) break;
  }
  return mostTelling(failures);
}

/** A client that left, or a fault of our own, is no reason to ask another provider. */
function mayGoOn(error: SvcError): boolean {
  return error.kind !== 'cancelled' && error.kind !== 'internal';
}

/** A provider's own words first, then what went wrong last, then why nobody was asked. */
function mostTelling(failures: readonly Exclude<Tried, { answer: unknown }>[]): Answer<ProxyFrame> {
  const relayed = failures.findLast((failure) => failure.relay !== undefined)?.relay;
  if (relayed !== undefined) return relayed;
  const asked = failures.findLast(({ error }) => error.kind !== 'bad_request')?.error;
  throw asked ?? failures.at(-1)?.error ?? new SvcError('internal', 'The request has no provider');
}

function passedOver(
  scope: AttemptScope,
  target: RouteTarget,
  provider: Provider,
  why: string,
): SvcError {
  note(scope, { provider: provider.name, model: target.model, failure: `skipped: ${why}` });
  return new SvcError(
    'bad_request',
    `Provider '${provider.name}' cannot serve this request: ${why}`,
  );
}

function note(scope: AttemptScope, attempt: Partial<Attempt> & Pick<Attempt, 'provider'>): void {
  const { clock, startedMs } = scope.run;
  scope.attempts.push({
    model: undefined,
    startedMs: clock.monotonicMs() - startedMs,
    headMs: undefined,
    status: undefined,
    failure: undefined,
    ...attempt,
  });
}

/** One provider with all of its keys. */
async function tryProvider(
  prepared: Prepared,
  state: ProviderState,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Tried> {
  const { provider, model, target } = prepared;
  const triedKeys = new Set<string>();
  let error = providerFailed(0);
  for (;;) {
    const admission = await requestAdmission({
      provider: provider.name,
      state,
      triedKeys,
      usesConfiguredKey: target.credential === 'configured',
      clock: scope.services.clock,
      signal: scope.run.signal,
    });
    if (!admission.admitted) {
      if (admission.error === undefined) return { error };
      note(scope, { provider: provider.name, model, failure: `not asked: ${admission.why}` });
      return { error: admission.error };
    }
    if (admission.waitedMs > 0) {
      scope.note(
        `waited ${Math.round(admission.waitedMs)} ms for the rate limit of ${provider.name}`,
      );
    }
    const tried = await tryOnce(prepared, admission, isLast, scope);
    if (tried !== 'next_key') return tried;
    error = providerFailed(scope.attempts.at(-1)?.status ?? 0);
  }
}

/** One exchange. The admission is given back when it is over: with a live answer, at the answer's end. */
async function tryOnce(
  prepared: Prepared,
  admission: Admission,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Tried | 'next_key'> {
  const { provider, model } = prepared;
  try {
    const response = await scope.services.upstream.send(
      prepared.wire(admission.key, scope.run.signal),
    );
    const verdict = admission.head(response.status, response.headers);
    noteHead(prepared, response, verdict !== 'relay', scope);
    if (verdict === 'relay') {
      const read = await readAnswer(prepared, response, { mustHold: !isLast, admission, scope });
      if ('answer' in read) return read;
      note(scope, { provider: provider.name, model, failure: toFailure(read.failed).message });
      return { error: toFailure(read.failed) };
    }
    if (verdict === 'next_key') {
      response.body.cancel(new Error('another key is tried'));
      admission.release();
      return 'next_key';
    }
    return await failedWith(prepared, response, admission, isLast, scope);
  } catch (thrown) {
    admission.failed(thrown, scope.run.signal);
    admission.release();
    const error = toSvcError(thrown);
    note(scope, { provider: provider.name, model, failure: error.message });
    return { error };
  }
}

function noteHead(
  { provider, model }: Prepared,
  { status }: UpstreamResponse,
  isFailure: boolean,
  scope: AttemptScope,
): void {
  const { clock, startedMs } = scope.run;
  const headMs = clock.monotonicMs() - startedMs;
  const failure = isFailure ? `status ${status}` : undefined;
  note(scope, { provider: provider.name, model, headMs, status, failure });
}

function toFailure(thrown: unknown): SvcError {
  if (isSvcError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : 'it broke off';
  return new SvcError('bad_gateway', `The provider failed before it said anything: ${message}`, {
    cause: thrown,
  });
}

/** An error answer: kept for the client while the next provider is asked. */
async function failedWith(
  prepared: Prepared,
  response: UpstreamResponse,
  admission: Admission,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Tried> {
  const read = await readAnswer(prepared, response, {
    mustHold: false,
    admission,
    scope,
    isError: true,
  });
  if (!('answer' in read)) return { error: toFailure(read.failed) };
  return isLast ? read : { error: providerFailed(response.status), relay: read.answer };
}
