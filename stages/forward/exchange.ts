/**
 * One exchange: the request is sent to one provider with one key, and the response decides the next
 * step.
 */
import { truncateText } from '../../engine/index.ts';
import type { Answer, SvcError } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { providerFailed, providerLimited } from '../model/errors.ts';
import { mayBeOfAccount } from '../providers/account.ts';
import type { AccountProblem } from '../providers/account.ts';
import type { Admission, HeadVerdict } from '../providers/admission.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import type { AttemptScope } from './attempt-scope.ts';
import { mayRefuse, messageOf, accountProblemIn, unsupportedIn } from './answer/error-body.ts';
import { keepErrorAnswer } from './answer/error-answer.ts';
import type { Prepared } from './request/prepared.ts';
import { readAnswer, readable, toFailure } from './answer/read-answer.ts';
import { begin, outcomeAfterFailure, sinceStart } from './step.ts';
import type { OpenAttempt, Outcome, Step } from './step.ts';
import { withoutKeys } from './answer/redact-keys.ts';

/** A request in progress. */
interface Exchange {
  readonly prepared: Prepared;
  readonly admission: Admission;
  readonly attempt: OpenAttempt;
  /** True if no other provider is left. */
  readonly isLast: boolean;
  readonly scope: AttemptScope;
}

/**
 * Sends the request with the key of `admission`, which is released when the exchange is over. Never
 * rejects.
 */
export async function exchange(
  prepared: Prepared,
  admission: Admission,
  isLast: boolean,
  scope: AttemptScope,
): Promise<Step> {
  const attempt = open(prepared, admission, scope);
  const current: Exchange = { prepared, admission, attempt, isLast, scope };
  try {
    const wire = prepared.wire(admission.key, scope.run.signal);
    const sent = await scope.services.upstream.send(wire, {
      runId: scope.run.id,
      attempt: scope.attempts.length - 1,
      provider: prepared.provider.name,
      onSent: () => {
        attempt.isSent = true;
      },
    });
    scope.services.planLimits.note(
      {
        provider: prepared.provider.name,
        label: admission.key?.label,
        sent: wire.headers,
        request: scope.run.id,
      },
      sent.headers,
    );
    attempt.headMs = sinceStart(scope);
    const safe = await withoutOwnKeys(current, prepared.transformResponse?.(sent) ?? sent);
    const response = readable(prepared, safe, scope);
    return await judgeResponse(current, response, await accountProblemOf(current, response));
  } catch (thrown) {
    admission.failed(thrown, scope.run.signal);
    admission.release();
    return failed(current, toFailure(thrown));
  }
}

/** A client with its own key may see what is said about it. */
function withoutOwnKeys(
  { prepared, admission, scope }: Exchange,
  response: UpstreamResponse,
): UpstreamResponse | Promise<UpstreamResponse> {
  if (admission.key === undefined) return response;
  return withoutKeys(response, prepared.provider.keys, scope.services.clock);
}

/** Opens the next attempt in the waterfall, including the time for its admission. */
function open(
  { provider, model }: Prepared,
  admission: Admission,
  scope: AttemptScope,
): OpenAttempt {
  if (admission.waitedMs > 0) {
    const waited = Math.round(admission.waitedMs);
    scope.state.notes.push(`waited ${waited} ms for the rate limit of ${provider.name}`);
  }
  const attempt = begin(scope, provider.name, model);
  attempt.key = admission.key?.label;
  return attempt;
}

/**
 * Returns what an error's message says about the account, if that decides whether another key or
 * provider is tried.
 */
function accountProblemOf(
  { admission, isLast, scope }: Exchange,
  response: UpstreamResponse,
): Promise<AccountProblem | undefined> | undefined {
  const { status } = response;
  const hasKey = admission.key !== undefined;
  if (!mayBeOfAccount(status) || (!hasKey && isLast)) return undefined;
  // Either another key or provider is tried whatever the message is, or the client sees it.
  return accountProblemIn(response, hasKey && status !== 400, scope.services.clock);
}

/** What the trace adds to the status. */
const ACCOUNT_PROBLEMS: Readonly<Record<AccountProblem | 'none', string>> = {
  none: '',
  no_credit: ': no credit left',
  refused: '',
  no_access: ': no access to the model',
};

/** Decides what a response means. */
async function judgeResponse(
  current: Exchange,
  response: UpstreamResponse,
  problem: AccountProblem | undefined,
): Promise<Step> {
  const { prepared, admission, attempt } = current;
  const { status } = response;
  attempt.status = status;
  const verdict = admission.head(status, response.headers, problem);
  if (verdict !== 'accept')
    attempt.failure = `status ${status}${ACCOUNT_PROBLEMS[problem ?? 'none']}`;
  if (verdict === 'next_key') return keyRejected(current, response, problem);
  if (verdict === 'accept' && prepared.removable.length > 0 && mayRefuse(status)) {
    const part = await unsupportedIn(response, prepared.removable, current.scope.services.clock);
    if (part !== undefined) {
      discardResponse(response, admission);
      attempt.failure = `status ${status}: refuses ${part}`;
      return { next: 'without', part };
    }
  }
  if (prepared.isGuess && (status === 404 || status === 405)) {
    discardResponse(response, admission);
    attempt.failure = `status ${status}: perhaps no such path`;
    return { next: 'other_endpoint' };
  }
  return judgeAnswer(current, response, verdict);
}

/** The next key is tried; if none is left, the client sees why. */
async function keyRejected(
  current: Exchange,
  response: UpstreamResponse,
  problem: AccountProblem | undefined,
): Promise<Step> {
  const { admission, attempt } = current;
  const { status } = response;
  if (problem === undefined) {
    discardResponse(response, admission);
    return { next: 'next_key', last: { status, attempt } };
  }
  const errorAnswer = await keepError(current, response);
  return { next: 'next_key', last: { status, attempt, errorAnswer } };
}

/**
 * Returns an answer for the client, or one that is kept for it while the next provider is tried.
 */
async function judgeAnswer(
  current: Exchange,
  response: UpstreamResponse,
  verdict: HeadVerdict,
): Promise<Outcome> {
  const { prepared, admission, attempt, isLast, scope } = current;
  const { status } = response;
  const isObjection = verdict === 'accept' && status >= 400 && !prepared.target.isPrimary;
  if (isObjection) attempt.failure = `status ${status}`;
  if (isObjection || (verdict === 'next_provider' && !isLast)) {
    const errorAnswer = await keepError(current, response);
    const error = status === 429 ? providerLimited() : providerFailed(status);
    const how = isObjection ? 'objected' : 'failed';
    return outcomeAfterFailure(scope, { how, error, attempt, errorAnswer });
  }
  const mustHold = !isLast && verdict === 'accept';
  const read = await readAnswer(prepared, response, { mustHold, admission, scope });
  if ('answer' in read) {
    if (status >= 400) attempt.message = await messageOf(read.answer);
    return { next: 'answer', ...read };
  }
  return failed(current, read.error, read.errorAnswer);
}

/** Ends the exchange, and keeps the provider's error for the client. */
async function keepError(
  { prepared, admission, attempt, scope }: Exchange,
  response: UpstreamResponse,
): Promise<Answer<ProxyFrame> | undefined> {
  const errorAnswer = await keepErrorAnswer(prepared, response, scope);
  if (errorAnswer !== undefined) attempt.message = await messageOf(errorAnswer);
  admission.release();
  return errorAnswer;
}

function failed(
  { attempt, scope }: Exchange,
  error: SvcError,
  errorAnswer?: Answer<ProxyFrame>,
): Outcome {
  attempt.failure = truncateText(error.message);
  attempt.isTimedOut = error.kind === 'gateway_timeout';
  return outcomeAfterFailure(scope, { how: 'failed', error, attempt, errorAnswer });
}

function discardResponse({ body }: UpstreamResponse, admission: Admission): void {
  body.cancel(new Error('the request is sent again in another form'));
  admission.release();
}
