/** What a request will use, guessed before it is sent, and what a block says to the user. */
import type { SvcError } from '../../engine/index.ts';
import { spendingLimit } from '../model/errors.ts';
import type { RateTerms } from '../model/billing.ts';
import { emptyUsage } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { foreseenOutput } from './most-output.ts';
import type { AskedOutput } from './most-output.ts';
import type { SpendingNote } from './spending.ts';

/** The request header whose `once` lets a request pass its limits. */
export const ALLOW_HEADER = 'x-svc-allow-spend';

/** What a request will use at most, as far as it can be foreseen; the model is undefined where nothing names it. */
export interface EstimatedUse {
  readonly model: string | undefined;
  readonly inputTokens: number;
  /** Undefined where nothing is written, as for embeddings. */
  readonly output: AskedOutput | undefined;
  /** The terms that it asks for; undefined for the usual ones. */
  readonly terms?: RateTerms | undefined;
}

/**
 * The usage to price as a request's estimate for a model: all input at the plain price, although
 * some of it may be cached, and as much output as the request allows, or else the model.
 */
export function estimateUsage(
  { inputTokens, output, terms }: Omit<EstimatedUse, 'model'>,
  model: string | undefined,
): Usage {
  const outputTokens = output === undefined ? 0 : foreseenOutput(output, model);
  const usage = { ...emptyUsage, inputTokens, outputTokens, estimated: true };
  return Object.freeze(terms === undefined ? usage : { ...usage, billing: terms });
}

/** 402 `spending_limit`, with the limit, what is used of it, the estimate with its range, and how to go on all the same. */
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
  const until =
    untilMs === undefined ? '' : ` It starts again from zero at ${momentText(untilMs)}.`;
  const passed =
    note.isUnforeseen === true
      ? `does not let pass what cannot be priced beforehand: ${spent}what this request will cost cannot be foreseen.`
      : `reached: ${spent}this request is estimated at ${amount(estimate)}${within}.${until}`;
  return spendingLimit(
    `Spending limit of ${amount(limit)} ${scopeText(note)} ${passed} Send '${ALLOW_HEADER}: once' (from another machine with a key that may) or run \`svc spend allow\` to allow it.`,
  );
}

function momentText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** What a limit is of, in words: `per day`, `per month of the project 'shop'`. */
export function scopeText({ scope, name }: Pick<SpendingNote, 'scope' | 'name'>): string {
  const [owner, period] = scope.includes('_') ? scope.split('_') : [undefined, scope];
  const per = `per ${period === 'tokens' ? 'day' : period}`;
  return owner === undefined ? per : `${per} of the ${owner} '${name}'`;
}

/** An amount of a limit in words: `$1.50`, or `12,000 tokens`. */
export function amountText(scope: SpendingNote['scope'], value: number): string {
  if (scope === 'tokens') return `${value.toLocaleString('en-US')} tokens`;
  return `$${(value / 1e9).toFixed(value < 1e7 ? 4 : 2)}`;
}
