/**
 * Compresses a conversation and, once the provider's cache of it has expired, leaves old tool
 * results out from then on. The whole conversation has to be written to the cache again anyway, so
 * rewriting it then costs nothing.
 */
import type { Conversations } from '../../../conversations/conversations.ts';
import type { ProxyRequest } from '../../../model/request.ts';
import { cacheLifetimeMs } from '../../../prompt-cache/lifetime.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import {
  compressWithinLimit,
  type LimitedOutcomes,
  type WithinLimit,
} from '../../pass/within-limit.ts';
import type { CompressConfig } from '../../settings.ts';
import { forgettableResults } from './forgettable.ts';
import { withResolvedAsChanged, withPointersResolved } from './pointers.ts';
import { withForgettable, rememberForgotten, withForgotten } from './forgotten.ts';

/**
 * Upper bound on rounds: a result sent whole because the one it repeated is gone may itself be old
 * enough.
 */
const MAX_ROUNDS = 4;

/** The outcomes, and how much was forgotten; tokens of the fixed estimator. */
export interface ForgettingOutcomes extends LimitedOutcomes {
  /** Results left out, including those left out in earlier turns. */
  readonly forgotten: number;
  /** Tokens that those results took before, less the tokens of the lines that replace them. */
  readonly tokensForgotten: number;
}

/**
 * Returns true if the conversation paused for longer than the setting and than any cache lifetime.
 */
export function isColdMoment(
  request: ProxyRequest,
  { coldTrimMs }: Pick<CompressConfig, 'coldTrimMs'>,
  conversations: Pick<Conversations, 'turnOf'>,
): boolean {
  const { dialect, endpoint, json } = request.original;
  if (coldTrimMs === null || endpoint.operation !== 'generate') return false;
  const { pauseMs } = conversations.turnOf(request);
  return pauseMs !== null && pauseMs > Math.max(coldTrimMs, cacheLifetimeMs(dialect.name, json));
}

/** `isCold`: whether more may be left out now. Results left out earlier stay out. */
export async function compressForgetting(
  all: readonly ConversationBlock[],
  limits: WithinLimit,
  isCold: boolean,
): Promise<ForgettingOutcomes> {
  const { memory } = limits;
  const blocks = withPointersResolved(withForgotten(all, memory));
  const result = await compressWithinLimit(blocks, limits);
  if (!isCold || result.failed !== undefined) return withCounts(blocks, result);
  let [best, outcome] = [blocks, result];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const more = forgettableResults(best, outcome.outcomes);
    if (more.length === 0) break;
    const bestWithMore = withForgettable(best, more);
    const next = await compressWithinLimit(bestWithMore, limits);
    if (next.failed !== undefined) return withCounts(blocks, result);
    [best, outcome] = [bestWithMore, next];
  }
  // A later result that is sent whole again may outweigh the one that it repeated.
  if (best === blocks || tokensOf(outcome) >= tokensOf(result)) return withCounts(blocks, result);
  rememberForgotten(best, memory);
  await memory.flush();
  return withCounts(best, outcome);
}

const tokensOf = ({ outcomes }: LimitedOutcomes): number =>
  outcomes.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);

function withCounts(
  blocks: readonly ConversationBlock[],
  outcome: LimitedOutcomes,
): ForgettingOutcomes {
  const result = withResolvedAsChanged(blocks, outcome);
  let [forgotten, tokensForgotten] = [0, 0];
  blocks.forEach((block, at) => {
    if (block.forgotten === undefined || result.outcomes[at] === undefined) return;
    forgotten++;
    tokensForgotten += (block.tokensForgotten ?? 0) - result.outcomes[at].tokensAfter;
  });
  return { ...result, forgotten, tokensForgotten };
}
