/**
 * Requests that a provider received whole although its answer was not awaited: the client left, or
 * the request timed out. It processes such a request and charges for it anyway (decisions §10).
 */
import type { Settlement } from '../../engine/index.ts';
import { requestedOutput, maxOutputTokens } from '../budget/max-output.ts';
import { estimateUnparsed, mayCost } from '../budget/unparsed-estimate.ts';
import { requestedTerms } from '../dialect/billing.ts';
import { estimateInputTokens } from '../model/input-size.ts';
import type { Attempt } from '../model/attempt.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { emptyUsage } from '../model/usage.ts';
import type { RequestSize } from '../learned/request-size.ts';
import type { Services } from '../services.ts';

/** Few models write faster: a document is written while its head is awaited. */
const TOKENS_PER_MS = 0.1;

/** An estimate of the wasted usage. */
export interface Unanswered {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null if a price is not known. */
  readonly costNanoUsd: number | null;
}

/**
 * Returns the sum over the attempts of a run that ended so; undefined for the usual run, which has
 * none.
 */
export function unansweredUse(
  settlement: Settlement<ProxyFrame>,
  startedWallMs: number,
  services: Services,
  sizeOf: RequestSize,
): Unanswered | undefined {
  const { last, durationMs } = settlement;
  const request = last.head?.request ?? last.request?.request;
  const attempts = (last.head ?? request?.route)?.attempts ?? [];
  if (request === undefined || !attempts.some((one) => one.isSent === true)) return undefined;
  let sum: Unanswered | undefined;
  for (const [at, attempt] of attempts.entries()) {
    const isLast = at === attempts.length - 1;
    if (!isUnanswered(attempt, isLast && last.head === undefined, settlement.outcome)) continue;
    const untilMs = attempts[at + 1]?.startedMs ?? durationMs;
    const waitedMs = Math.max(0, untilMs - attempt.startedMs);
    const use = useOf(request, attempt, waitedMs, startedWallMs, services, sizeOf);
    if (use !== undefined) sum = sum === undefined ? use : addUnanswered(sum, use);
  }
  return sum;
}

function isUnanswered(
  { isSent, isTimedOut, status }: Attempt,
  isOpen: boolean,
  outcome: Settlement<ProxyFrame>['outcome'],
): boolean {
  if (isSent !== true) return false;
  if (isTimedOut === true) return true;
  // An error answer costs nothing, even if it was not awaited.
  return isOpen && outcome === 'cancelled' && (status === undefined || status < 400);
}

function useOf(
  request: ProxyRequest,
  { provider: name, model: requestedModel }: Attempt,
  waitedMs: number,
  atMs: number,
  { providers, prices, learned }: Services,
  sizeOf: RequestSize,
): Unanswered | undefined {
  const { body, endpoint, facts, json } = request.original;
  if (!mayCost(body)) return undefined;
  const unread = endpoint.rewritable ? undefined : estimateUnparsed(body);
  const model = requestedModel ?? unread?.model ?? modelOf(request);
  const ratio = learned.tokenRatio(model ?? null);
  const size = unread?.inputTokens ?? sizeOf(request) ?? estimateInputTokens(request);
  const inputTokens = Math.round(size * (unread === undefined ? ratio : 1));
  if (inputTokens === 0) return undefined;
  const output = unread === undefined ? requestedOutput(json) : unread.output;
  // A stream begins with its head: without one, nothing was written.
  const outputTokens =
    facts.stream || output === undefined
      ? 0
      : Math.min(maxOutputTokens(output, model), Math.round(waitedMs * TOKENS_PER_MS));
  const provider = providers.get(name);
  const billing = requestedTerms(json);
  const usage = {
    ...emptyUsage,
    inputTokens,
    outputTokens,
    estimated: true,
    ...(billing && { billing }),
  };
  const costNanoUsd =
    provider === undefined || model === undefined
      ? null
      : prices.costNanoUsd(provider, model, usage, atMs);
  return { inputTokens, outputTokens, costNanoUsd };
}

function addUnanswered(a: Unanswered, b: Unanswered): Unanswered {
  const isPriced = a.costNanoUsd !== null && b.costNanoUsd !== null;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costNanoUsd: isPriced ? a.costNanoUsd + b.costNanoUsd : null,
  };
}
