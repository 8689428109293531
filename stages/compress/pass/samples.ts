/** What a finished compression has to teach: how much each new block of a kind lost. */
import type { BlockSample } from '../../learned/learned.ts';
import type { Block } from '../../model/block.ts';
import type { Mode } from '../rules/rule.ts';
import type { JobOutcome } from '../worker/job.ts';

/**
 * Samples of the blocks behind the model's last answer. Those before it were sent, and
 * learned from, in an earlier turn.
 */
export function samplesOf(
  blocks: readonly Block[],
  outcomes: readonly JobOutcome[],
  mode: Mode,
): readonly BlockSample[] {
  const answered = blocks.findLastIndex((block) => block.role === 'assistant');
  return outcomes.flatMap((outcome) => {
    const { index, classification, isTried, tokensBefore, tokensAfter, changed, reason } = outcome;
    if (index <= answered || classification === undefined || !isTried) return [];
    if (!changed && reason !== 'no-gain') return [];
    const toolName = blocks[index]?.toolName ?? null;
    return [{ mode, kind: classification.kind, toolName, tokensBefore, tokensAfter }];
  });
}
