/**
 * Compresses a request within its time. Where time runs out, or a fault ends the thread,
 * what was decided by then goes out so, and the rest as it was, now and in every later
 * turn; so does what could not be decided at all. Where a thread was not ready in time, which
 * says nothing of the text, the next turn tries again. What went out smaller in an earlier turn
 * must do so again, however long it takes: sending it as it was would cost the provider's
 * cache of all that follows.
 */
import type { CancelSignal } from '../../../engine/index.ts';
import type { Memory } from '../../conversations/conversations.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { CompressThread, JobResult } from '../worker/compress-thread.ts';
import type { ConversationBlock } from './blocks.ts';
import { forgottenOutcome, repeatedOutcome } from './conversation.ts';
import type { JobOptions, JobOutcome } from '../worker/job.ts';
import {
  asItIs,
  rememberSent,
  rememberUndecided,
  sentCount,
  TIMED_OUT,
  withoutUndecided,
} from './timed-out-blocks.ts';

export interface WithinLimit {
  readonly memory: Memory;
  readonly compressor: Pick<CompressThread, 'run'>;
  readonly options: JobOptions;
  readonly maxTimeMs: number;
  readonly signal: CancelSignal;
}

/** What goes out for every block; `failed` says why not all of them were decided. */
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
  const blocks = withoutUndecided(memory, all);
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
  // Nothing goes out for a client that has left.
  if (result.failed === 'cancelled') return { outcomes: [], failed: 'cancelled' };
  const sent = sentCount(memory, blocks);
  const more = result.decided.length < sent ? await again(blocks.slice(0, sent), limits) : result;
  if ('failed' in more && more.failed === 'cancelled') return { outcomes: [], failed: 'cancelled' };
  const decided = longer(result.decided, 'outcomes' in more ? more.outcomes : more.decided);
  remember(decided);
  const rest = blocks.slice(decided.length).map(untouched);
  return { outcomes: [...decided, ...rest], failed: result.failed };
}

/** Does blocks that were sent before, without a limit. */
function again(
  blocks: readonly ConversationBlock[],
  { compressor, memory, options, signal }: WithinLimit,
): Promise<JobResult> {
  return compressor.run({ blocks, options, conversation: memory.id }, 0, signal);
}

/** Both decided the first blocks of one conversation, so what both have is the same. */
function longer(one: readonly JobOutcome[], other: readonly JobOutcome[]): readonly JobOutcome[] {
  return one.length > other.length ? one : other;
}

function untouched(block: ConversationBlock): JobOutcome {
  if (block.forgotten !== undefined) return forgottenOutcome(block, block.forgotten);
  if (block.sentAs !== undefined) {
    const repeated = repeatedOutcome(block, block.sentAs);
    return { ...repeated, text: repeated.changed ? repeated.text : undefined };
  }
  const tokens = estimateTokens(block.text);
  return {
    index: block.index,
    text: undefined,
    changed: false,
    reason: asItIs(block, TIMED_OUT).protectedReason!,
    by: [],
    tokensBefore: tokens,
    tokensAfter: tokens,
    removed: [],
    repeatedLines: 0,
    isTried: false,
  };
}
