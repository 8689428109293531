/**
 * Compresses a request within its time limit. If time runs out, or a fault ends the thread, decided
 * blocks are sent as decided and the rest unchanged, now and in every later turn; the same goes for
 * blocks that could not be decided at all. If a thread was not ready in time, which says nothing
 * about the text, the next turn tries again. Blocks sent smaller in an earlier turn must be sent so
 * again, however long that takes: sending them unchanged would invalidate the provider's cache of
 * everything after them.
 */
import type { CancelSignal } from '../../../engine/index.ts';
import type { Memory } from '../../conversations/memory.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { CompressThread, JobResult } from '../worker/compress-thread.ts';
import type { ConversationBlock } from './blocks.ts';
import { forgottenOutcome, sentAgainOutcome } from './conversation.ts';
import type { JobOptions, JobOutcome } from '../worker/job.ts';
import {
  asUndecided,
  rememberSent,
  rememberUndecided,
  sentCount,
  TIMED_OUT,
  protectUndecided,
} from './timed-out-blocks.ts';

export interface WithinLimit {
  readonly memory: Memory;
  readonly compressor: Pick<CompressThread, 'run'>;
  readonly options: JobOptions;
  readonly maxTimeMs: number;
  readonly signal: CancelSignal;
}

/** The outcome of every block; `failed` says why not all of them were decided. */
export interface LimitedOutcomes {
  readonly outcomes: readonly JobOutcome[];
  readonly where?: 'inline' | 'thread';
  readonly failed?: Extract<JobResult, { failed: unknown }>['failed'];
}

export async function compressWithinLimit(
  all: readonly ConversationBlock[],
  limits: WithinLimit,
): Promise<LimitedOutcomes> {
  const { memory, compressor, options, maxTimeMs, signal } = limits;
  const conversation = memory.id;
  const blocks = protectUndecided(memory, all);
  const result = await compressor.run({ blocks, options, conversation }, maxTimeMs, signal);
  const remember = (outcomes: readonly JobOutcome[]): void => {
    const isOnlyLate = 'failed' in result && result.failed === 'starting';
    const timedOut = isOnlyLate ? [] : blocks.slice(outcomes.length);
    const unread = blocks.filter((_, at) => outcomes[at]?.undecided !== undefined);
    rememberUndecided(memory, timedOut, unread);
    if (outcomes.some((outcome) => outcome.changed)) rememberSent(memory, blocks);
  };
  if ('outcomes' in result) {
    remember(result.outcomes);
    return result;
  }
  // Nothing is sent for a client that has disconnected.
  if (result.failed === 'cancelled') return { outcomes: [], failed: 'cancelled' };
  const sent = sentCount(memory, blocks);
  const more =
    result.decided.length < sent ? await recompute(blocks.slice(0, sent), limits) : result;
  if ('failed' in more && more.failed === 'cancelled') return { outcomes: [], failed: 'cancelled' };
  const decided = longer(result.decided, 'outcomes' in more ? more.outcomes : more.decided);
  remember(decided);
  const rest = blocks.slice(decided.length).map(untouched);
  return { outcomes: [...decided, ...rest], failed: result.failed };
}

/** Recomputes blocks that were sent before, without a time limit. */
function recompute(
  blocks: readonly ConversationBlock[],
  { compressor, memory, options, signal }: WithinLimit,
): Promise<JobResult> {
  return compressor.run({ blocks, options, conversation: memory.id }, 0, signal);
}

/**
 * Returns the longer list. Both start at the same conversation's first block, so they agree where
 * they overlap.
 */
function longer(one: readonly JobOutcome[], other: readonly JobOutcome[]): readonly JobOutcome[] {
  return one.length > other.length ? one : other;
}

function untouched(block: ConversationBlock): JobOutcome {
  if (block.forgotten !== undefined) return forgottenOutcome(block, block.forgotten);
  if (block.sentAs !== undefined) {
    const repeated = sentAgainOutcome(block, block.sentAs);
    return { ...repeated, text: repeated.changed ? repeated.text : undefined };
  }
  const tokens = estimateTokens(block.text);
  return {
    index: block.index,
    text: undefined,
    changed: false,
    reason: asUndecided(block, TIMED_OUT).protectedReason!,
    by: [],
    tokensBefore: tokens,
    tokensAfter: tokens,
    removed: [],
    repeatedLines: 0,
    isTried: false,
  };
}
