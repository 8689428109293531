/** What a finished compression has to teach: how much each new block of a kind lost. */
import type { Block } from '../model/block.ts';
import { isSkipped } from './compressor.ts';
import type { JobOptions, JobOutcome } from './worker/job.ts';
import { isTouched, MIN_TOKENS } from './conversation/touched.ts';

/** One block on which algorithms of its class worked, in estimated tokens. */
export interface Sample {
  readonly mode: string;
  readonly kind: string;
  readonly toolName: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * Samples of the blocks behind the model's last answer. Those before it were sent, and
 * learned from, in an earlier turn.
 */
export function samplesOf(
  blocks: readonly Block[],
  outcomes: readonly JobOutcome[],
  options: JobOptions,
): readonly Sample[] {
  const { mode, applied } = options;
  const answered = blocks.findLastIndex((block) => block.role === 'assistant');
  return outcomes.flatMap((outcome) => {
    const { index, classification, tokensBefore, tokensAfter, changed, reason } = outcome;
    if (index <= answered || classification === undefined || tokensBefore < MIN_TOKENS) return [];
    if (!changed && reason !== 'no-gain') return [];
    const { kind } = classification;
    const toolName = blocks[index]?.toolName;
    if (!isTouched(mode, kind)) return [];
    if (isSkipped(applied, mode, kind, toolName)) return [];
    return [{ mode, kind, toolName: toolName ?? null, tokensBefore, tokensAfter }];
  });
}
