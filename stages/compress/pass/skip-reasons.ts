/** Why a request went out as large as it came, in words for its trace and for `svc status`. */
import { VERBATIM_BECAUSE } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';
import type { JobOutcome } from '../worker/job.ts';
import type { CompressConfig } from '../settings.ts';

const UNTOUCHABLE = {
  bypass: 'it has the header X-Svc-Bypass',
  paused: 'rewriting is paused (svc resume)',
  subscription: 'it carries a subscription token',
  size: 'it has too many values to be parsed',
} as const;

/** Why `request` must go out as it came, or undefined where it may be rewritten. */
export function passedBecause({ original, isVerbatim }: ProxyRequest): string | undefined {
  const { body, endpoint } = original;
  if (body.untouchable !== undefined) return UNTOUCHABLE[body.untouchable];
  if (isVerbatim) return VERBATIM_BECAUSE;
  return endpoint.rewritable ? undefined : 'requests of this kind are never rewritten';
}

/** Why a small request is not looked at either. */
export function tooSmallBecause({
  thresholdTokens,
}: Pick<CompressConfig, 'thresholdTokens'>): string {
  return `it is below compression.threshold_tokens (${thresholdTokens})`;
}

/** The most telling reason first: what was tried, then what kept it from being tried. */
const REASONS: readonly (readonly [string, string])[] = [
  ['no-gain', 'nothing repeats or can be encoded in fewer tokens'],
  ['undecided', 'its source code could not be parsed with certainty'],
  ['marked', 'its texts are already marked as compressed'],
  ['error_result', 'its tool results are errors, kept whole'],
];

/** Why nothing changed although every block was looked at. */
export function unchangedBecause(
  outcomes: readonly Pick<JobOutcome, 'reason'>[],
  config: Pick<CompressConfig, 'thresholdTokens'>,
): string {
  const found = new Set(outcomes.map((outcome) => outcome.reason));
  for (const [reason, words] of REASONS) if (found.has(reason)) return words;
  return found.has('below-threshold')
    ? tooSmallBecause(config)
    : 'it contains neither tool results nor pasted text';
}

/** True for requests about which nobody wonders: they ask no model for an answer. */
export function asksModel({ original }: ProxyRequest): boolean {
  return original.endpoint.operation === 'generate';
}
