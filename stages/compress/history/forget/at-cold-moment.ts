/**
 * Compresses a conversation and, at a moment when the provider's cache of it has run out, leaves
 * old results of tools out from then on: all of it is written to the cache again in any case, so
 * that rewriting it costs nothing.
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
import { forgettable } from './forgettable.ts';
import { outcomesOfPointed, withPointedTo } from './pointers.ts';
import { leavingOut, rememberForgotten, withForgotten } from './forgotten.ts';

/** A result that goes out whole because what it repeated is gone may be old enough itself. */
const MAX_ROUNDS = 4;

/** What goes out, and what forgetting has to do with it; tokens of the fixed estimator. */
export interface ForgettingOutcomes extends LimitedOutcomes {
  /** Results that are left out, those of earlier turns included. */
  readonly forgotten: number;
  /** Tokens of what went out in their place before, less those of the lines that stand there. */
  readonly tokensForgotten: number;
}

/** True where the conversation paused for longer than the setting, and than any cache of it lives. */
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

/** `isCold`: whether more may be left out now. What was left out before always is. */
export async function compressForgetting(
  all: readonly ConversationBlock[],
  limits: WithinLimit,
  isCold: boolean,
): Promise<ForgettingOutcomes> {
  const { memory } = limits;
  const blocks = withPointedTo(withForgotten(all, memory));
  const result = await compressWithinLimit(blocks, limits);
  if (!isCold || result.failed !== undefined) return counted(blocks, result);
  let [best, made] = [blocks, result];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const more = forgettable(best, made.outcomes);
    if (more.length === 0) break;
    const less = leavingOut(best, more);
    const next = await compressWithinLimit(less, limits);
    if (next.failed !== undefined) return counted(blocks, result);
    [best, made] = [less, next];
  }
  // A later result that goes out whole again may outweigh the one that it repeated.
  if (best === blocks || tokensOf(made) >= tokensOf(result)) return counted(blocks, result);
  rememberForgotten(best, memory);
  await memory.flush();
  return counted(best, made);
}

const tokensOf = ({ outcomes }: LimitedOutcomes): number =>
  outcomes.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);

function counted(blocks: readonly ConversationBlock[], made: LimitedOutcomes): ForgettingOutcomes {
  const result = outcomesOfPointed(blocks, made);
  let [forgotten, tokensForgotten] = [0, 0];
  blocks.forEach((block, at) => {
    if (block.forgotten === undefined || result.outcomes[at] === undefined) return;
    forgotten++;
    tokensForgotten += (block.tokensForgotten ?? 0) - result.outcomes[at].tokensAfter;
  });
  return { ...result, forgotten, tokensForgotten };
}
