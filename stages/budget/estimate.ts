/** The estimated usage of a request before it is sent, and the message for a blocked one. */
import type { SvcError } from '../../engine/index.ts';
import { spendingLimit } from '../model/errors.ts';
import type { RateTerms } from '../model/billing.ts';
import { emptyUsage } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { maxOutputTokens } from './max-output.ts';
import type { RequestedOutput } from './max-output.ts';
import type { SpendingNote } from './spending.ts';

/** The request header whose value `once` lets a request exceed its limits. */
export const ALLOW_HEADER = 'x-svc-allow-spend';

/**
 * The maximum usage of a request, as far as it can be predicted; the model is undefined if nothing
 * names it.
 */
export interface EstimatedUse {
  readonly model: string | undefined;
  readonly inputTokens: number;
  /** Undefined if there is no output, as for embeddings. */
  readonly output: RequestedOutput | undefined;
  /** The requested rate terms; undefined for the usual ones. */
  readonly terms?: RateTerms | undefined;
}

/**
 * Returns the usage to price as a request's estimate for a model: all input at the plain price,
 * although some of it may be cached, and as much output as the request or else the model allows.
 */
export function estimateUsage(
  { inputTokens, output, terms }: Omit<EstimatedUse, 'model'>,
  model: string | undefined,
): Usage {
  const outputTokens = output === undefined ? 0 : maxOutputTokens(output, model);
  const usage = { ...emptyUsage, inputTokens, outputTokens, estimated: true };
  return Object.freeze(terms === undefined ? usage : { ...usage, billing: terms });
}

/**
 * Returns 402 `spending_limit` with the limit, how much of it is used, the estimate with its range,
 * and how to proceed anyway.
 */
export function spendingFault(
  note: SpendingNote,
  range?: readonly [least: number, most: number],
): SvcError {
  const { scope, limit, used, estimate, untilMs } = note;
  const amount = (value: number): string => amountText(scope, value);
  const spent = scope === 'request' ? '' : `${amount(used)} of it is used and `;
  const within =
    range === undefined || scope === 'tokens'
      ? ''
      : ` (from ${amount(range[0])}, all of it cached and no answer, to ${amount(Math.max(range[1], estimate))}, all of it written to a cache)`;
  const until = untilMs === undefined ? '' : ` It resets at ${momentText(untilMs)}.`;
  const passed =
    note.isUnpredictable === true
      ? `blocks requests that cannot be priced beforehand: ${spent}the cost of this request cannot be predicted.`
      : `reached: ${spent}this request is estimated at ${amount(estimate)}${within}.${until}`;
  return spendingLimit(
    `Spending limit of ${amount(limit)} ${scopeText(note)} ${passed} Send '${ALLOW_HEADER}: once' (from another machine with a key that may) or run \`svc spend allow\` to allow it.`,
  );
}

function momentText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Describes the scope of a limit: `per day`, `per month of the project 'shop'`. */
export function scopeText({ scope, name }: Pick<SpendingNote, 'scope' | 'name'>): string {
  const [owner, period] = scope.includes('_') ? scope.split('_') : [undefined, scope];
  const per = `per ${period === 'tokens' ? 'day' : period}`;
  return owner === undefined ? per : `${per} of the ${owner} '${name}'`;
}

/** Formats an amount of a limit: `$1.50`, or `12,000 tokens`. */
export function amountText(scope: SpendingNote['scope'], value: number): string {
  if (scope === 'tokens') return `${value.toLocaleString('en-US')} tokens`;
  return `$${(value / 1e9).toFixed(value < 1e7 ? 4 : 2)}`;
}
