/**
 * The reason why a request was sent unchanged, as text for its trace and for `svc status`, and the
 * size of the request.
 */
import type { Conversations } from '../../conversations/conversations.ts';
import type { Operation } from '../../model/endpoint.ts';
import { VERBATIM_BECAUSE } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { JobOutcome } from '../worker/job.ts';
import type { CompressConfig } from '../settings.ts';
import { requestedMode } from './options.ts';
import type { JoinedPass } from './joined-pass.ts';
import { TIMED_OUT, UNDECIDED } from './timed-out-blocks.ts';

const VERBATIM_REASONS = {
  bypass: 'it has the header X-Svc-Bypass',
  paused: 'rewriting is paused (svc resume)',
  subscription: 'it carries a subscription token',
  size: 'it has too many values to be parsed',
} as const;

/** Returns why `request` must be sent unchanged, or undefined if it may be rewritten. */
export function reasonForVerbatim({ original, isVerbatim }: ProxyRequest): string | undefined {
  const { body, endpoint } = original;
  if (body.untouchable !== undefined) return VERBATIM_REASONS[body.untouchable];
  if (isVerbatim) return VERBATIM_BECAUSE;
  return endpoint.rewritable ? undefined : 'requests of this kind are never rewritten';
}

/**
 * Returns why a request is skipped: compression is off, or it has fewer bytes than the threshold
 * has tokens.
 */
export function reasonForSkipping(
  request: ProxyRequest,
  { config, requested }: JoinedPass,
  conversations: Conversations,
): string | undefined {
  if (!config.enabled) return 'compression.enabled is false';
  const { body, facts } = request.original;
  if (body.bytes.length >= config.thresholdTokens) return undefined;
  // A mode or macro that a request names is pinned from then on.
  if (requested !== undefined || requestedMode(request) !== undefined) return undefined;
  // Tool definitions precede every request of a conversation, however small the first ones are.
  if (facts.hasTools && config.tools === 'trim') return undefined;
  if (conversations.figures.conversations === 0) return reasonForTooSmall(config);
  // A conversation keeps the options it began with, even if the configuration has changed.
  const { pin } = conversations.memoryOf(request).record;
  const isTrimmed = facts.hasTools && pin?.tools === 'trim';
  const isEligible = pin !== undefined && body.bytes.length >= pin.thresholdTokens;
  return isTrimmed || isEligible ? undefined : reasonForTooSmall(config);
}

/** Returns the reason for skipping a small request. */
function reasonForTooSmall({ thresholdTokens }: Pick<CompressConfig, 'thresholdTokens'>): string {
  return `it is below compression.threshold_tokens (${thresholdTokens})`;
}

/**
 * Reasons in order, the most informative first: failed attempts, then what prevented an attempt.
 */
const REASONS: readonly (readonly [string, string])[] = [
  [TIMED_OUT, 'compressing it took too long when it was sent before (compression.max_time_ms)'],
  ['no-gain', 'nothing repeats or can be encoded in fewer tokens'],
  [UNDECIDED, 'its source code could not be parsed with certainty'],
  ['marked', 'its texts are already marked as compressed'],
  ['fetched', 'it was fetched whole'],
  ['program', 'its tool results are read by a program of the model, which needs them as they are'],
  ['error_result', 'its tool results are errors, kept whole'],
];

/** Returns why nothing changed although every block was examined. */
export function reasonForNoChange(
  outcomes: readonly Pick<JobOutcome, 'reason'>[],
  config: Pick<CompressConfig, 'thresholdTokens'>,
): string {
  const found = new Set(outcomes.map((outcome) => outcome.reason));
  for (const [reason, words] of REASONS) if (found.has(reason)) return words;
  return found.has('below-threshold')
    ? reasonForTooSmall(config)
    : 'it contains neither tool results nor pasted text';
}

/** Returns true for requests that ask a model for a response; the others need no explanation. */
export function runsModel({ original }: ProxyRequest): boolean {
  return original.endpoint.operation === 'generate';
}

/**
 * Maximum size of a body that is parsed only for this: a larger one would block the event loop for
 * a millisecond or more.
 */
const MAX_PARSED_BYTES = 128 * 1024;
/** Rough average over the bodies of all dialects. */
const BYTES_PER_TOKEN = 4;
/** Operations whose body is a conversation, with all blocks known. */
const CONVERSATION_OPERATIONS: ReadonlySet<Operation> = new Set([
  'generate',
  'count_tokens',
  'compact',
]);

/** Size of an unchanged request. */
export interface UnchangedTokens {
  /** Estimated tokens of its blocks; null if it is not a conversation. */
  readonly tokens: number | null;
  /** True if estimated from bytes alone, which may be a third too low or too high. */
  readonly isRough: boolean;
}

/** Returns the size of `request` at negligible cost to the event loop. */
export function unchangedTokens({ original }: ProxyRequest): UnchangedTokens {
  const { body, endpoint } = original;
  if (!CONVERSATION_OPERATIONS.has(endpoint.operation)) return { tokens: null, isRough: false };
  if (body.untouchable === 'size' || body.bytes.length > MAX_PARSED_BYTES)
    return { tokens: Math.round(body.bytes.length / BYTES_PER_TOKEN), isRough: true };
  const tokens = original.blocks().reduce((sum, { text }) => sum + estimateTokens(text), 0);
  return { tokens, isRough: false };
}
