/**
 * Reports the outcomes of a request's blocks: to the request, trace, row, `svc diff`, log and `svc
 * learn`.
 */
import type { StageContext } from '../../../engine/index.ts';
import type { BlockSample } from '../../learned/learned.ts';
import type { ChangedBlock } from '../../originals/originals.ts';
import type { Block } from '../../model/block.ts';
import { replaceTexts } from '../../model/request.ts';
import type { RequestReport, ProxyRequest } from '../../model/request.ts';
import type { StageLog } from '../../services.ts';
import type { ForgettingOutcomes } from '../history/forget/compress-forgetting.ts';
import type { Mode } from '../rules/rule.ts';
import type { JobOutcome } from '../worker/job.ts';
import type { UnchangedTokens } from './skip-reasons.ts';
import type { LimitedOutcomes } from './within-limit.ts';

type NoteContext = Pick<StageContext, 'note'>;

/** Notes what went wrong with a request. A recurring fault is logged once. */
export function createProblemNotes(
  log: Pick<StageLog, 'warning'>,
): (result: LimitedOutcomes, ctx: NoteContext) => void {
  const logged = new Set<string>();
  return ({ failed, outcomes }, ctx) => {
    if (failed !== undefined) ctx.note('not_compressed_because', failed);
    const algorithms = new Set(outcomes.flatMap((outcome) => outcome.failed ?? []));
    if (algorithms.size > 0) ctx.note('algorithms_failed', [...algorithms]);
    const skipped = new Set(outcomes.flatMap((outcome) => outcome.skipped ?? []));
    if (skipped.size > 0) ctx.note('recipes_skipped', [...skipped]);
    const undecided = new Set(outcomes.flatMap((outcome) => outcome.undecided ?? []));
    if (undecided.size > 0) ctx.note('undecided_because', [...undecided]);
    for (const because of undecided) {
      if (!logged.has(because)) log.warning('source code is sent unchanged', { because });
      logged.add(because);
    }
  };
}

/** Returns the request with the new texts in it. */
export function applyOutcomes(
  request: ProxyRequest,
  blocks: readonly Block[],
  outcomes: readonly JobOutcome[],
): ProxyRequest {
  const texts = outcomes.flatMap(({ index, text }) =>
    text === undefined ? [] : [[blocks[index]!, text] as const],
  );
  return replaceTexts(request, new Map(texts));
}

/** Notes the estimated tokens of all blocks, before and after; null if none were estimated. */
export function noteTokens(ctx: NoteContext, before: number | null, after = before): void {
  ctx.note('tokens_before', before);
  ctx.note('tokens_after', after);
}

/** Notes the tokens of an unchanged request, and marks a rough guess as such. */
export function noteUnchanged(ctx: NoteContext, { tokens, isRough }: UnchangedTokens): void {
  noteTokens(ctx, tokens);
  if (isRough) ctx.note('tokens_rough', true);
}

/** Notes what trimming the tools saved, for the trace and the report. */
export function noteToolSavings(
  tools: readonly ChangedBlock[],
  ctx: NoteContext,
): Pick<RequestReport, 'estimatedTools'> {
  if (tools.length === 0) return {};
  const [before, after] = [sum(tools, 'tokensBefore'), sum(tools, 'tokensAfter')];
  ctx.note('tools_trimmed', tools.length);
  ctx.note('tools_tokens_before', before);
  ctx.note('tools_tokens_after', after);
  return { estimatedTools: Math.max(before - after, 0) };
}

/** Notes what compression saved, for the trace and the report. */
export function noteSavings(
  { outcomes, where, forgotten, tokensForgotten }: ForgettingOutcomes,
  ctx: NoteContext,
): RequestReport {
  const [before, after] = [sum(outcomes, 'tokensBefore'), sum(outcomes, 'tokensAfter')];
  const leftOut = sum(outcomes, 'tokensLeftOut');
  noteTokens(ctx, before, after);
  ctx.note('blocks_changed', outcomes.filter(({ text }) => text !== undefined).length);
  if (leftOut > 0) ctx.note('long_results_tokens_left_out', leftOut);
  if (where !== undefined) ctx.note('where', where);
  return {
    estimatedBefore: before,
    estimatedAfter: after,
    ...(leftOut > 0 && { estimatedLeftOut: leftOut }),
    ...(forgotten > 0 && { estimatedForgotten: Math.max(tokensForgotten, 0) }),
  };
}

function sum<K extends string>(all: readonly { readonly [key in K]?: number }[], name: K): number {
  return all.reduce((total, one) => total + (one[name] ?? 0), 0);
}

/** Returns the changed blocks before and after, for `svc diff`. */
export function changedBlocks(
  blocks: readonly Block[],
  outcomes: readonly JobOutcome[],
): readonly ChangedBlock[] {
  return outcomes.flatMap(({ index, text, by, classification, tokensBefore, tokensAfter }) => {
    const block = blocks[index];
    if (text === undefined || block === undefined) return [];
    const { toolName = null, text: before } = block;
    const kind = classification?.kind ?? null;
    return [{ index, toolName, by, kind, before, after: text, tokensBefore, tokensAfter }];
  });
}

/**
 * Returns samples to learn from, of the blocks after the model's last response: how much each of a
 * kind shrank. Earlier blocks were sent, and learned from, in an earlier turn.
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
