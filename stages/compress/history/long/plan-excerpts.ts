/**
 * Which long results may be sent as excerpts. All conditions but one follow from the blocks before
 * a result. The exception, that its file was not edited since, is checked once, when the result is
 * first sent, and recorded durably: later turns repeat the decision whatever is edited by then.
 */
import { sharedBy } from '../../../model/block-history.ts';
import type { BlockHistory } from '../../../model/block-history.ts';
import type { ProxyRequest } from '../../../model/request.ts';
import { costsAtLeast } from '../../../model/tokens.ts';
import { isPlainResult, toConversationBlocks, type ConversationBlock } from '../../pass/blocks.ts';
import { resultKeys } from '../../pass/result-keys.ts';
import type { WithinLimit } from '../../pass/within-limit.ts';
import type { JobOutcome } from '../../worker/job.ts';
import { fileNamesOf, fileWritesOf, writtenBy } from '../forget/file-writes.ts';
import { rangeRequestFor, declaredTools } from './range-request.ts';

/** Results decided on, by `resultKeys`: true for one sent as an excerpt. */
export type LongDecisions = ReadonlyMap<string, boolean>;

export interface LongDecisionInput {
  readonly longTokens: number;
  /** Body of the request, which declares the tools. */
  readonly body: unknown;
  /** Decisions of earlier turns. */
  readonly decided: Pick<LongDecisions, 'get'>;
  /** False if the provider edits the context itself: then nothing new is decided. */
  readonly mayDecide: boolean;
  /** What the next turn will know of these blocks; absent for a short conversation. */
  readonly history?: BlockHistory | undefined;
}

/** The blocks of a request with the decisions on its long results. */
export interface ExcerptPlan {
  /** Each block that may be sent as an excerpt says how a part of it is requested. */
  readonly blocks: readonly ConversationBlock[];
  /** Keys (`resultKeys`) of those blocks, by index in `blocks`. */
  readonly allowed: ReadonlyMap<number, string>;
  /** Keys of results held back because their file was edited since. */
  readonly heldBack: readonly string[];
}

/**
 * Decides on the long results of a request. Every request passes through here but few have long
 * results, so the others cost only one check.
 */
export function planExcerpts(
  blocks: readonly ConversationBlock[],
  { longTokens, body, decided, mayDecide, history }: LongDecisionInput,
): ExcerptPlan {
  const allowed = new Map<number, string>();
  const known = sharedBy(history, knownLengths);
  const isLong = blocks.map((block) => longTokens > 0 && costsMore(block, longTokens, known));
  if (!isLong.includes(true)) return { blocks, allowed, heldBack: [] };
  const tools = declaredTools(body);
  const writes = fileWritesOf(blocks);
  const lengths = new Set(blocks.filter((_, at) => isLong[at]).map(({ text }) => text.length));
  const keys = resultKeys(blocks, (text) => lengths.has(text.length));
  const visible = new Set<string>();
  const written = new Set<string>();
  const heldBack: string[] = [];
  const made = blocks.map((block, at): ConversationBlock => {
    for (const name of writtenBy(block)) written.add(name);
    if (isLong[at] !== true) return block;
    const words = rangeRequestFor(block, tools);
    if (words === undefined) return block;
    const origins = sourcesOf(block);
    // A file that is read again is needed whole, and so is one the agent has been working on.
    const isKnown = origins.some((name) => visible.has(name) || written.has(name));
    for (const name of origins) visible.add(name);
    if (isKnown) return block;
    const key = keys[at]!;
    const before = decided.get(key);
    if (before === undefined && !mayDecide) return block;
    const isEdited = writes.isWrittenAfter(at, block);
    if (before === false || (before === undefined && isEdited)) {
      heldBack.push(key);
      return block;
    }
    allowed.set(at, key);
    return { ...block, rangeRequest: words };
  });
  return { blocks: made, allowed, heldBack };
}

/** Whether a result costs more than so many tokens, by block: the next turn has most of them again. */
type KnownLengths = WeakMap<
  ConversationBlock,
  { readonly tokens: number; readonly costsMore: boolean }
>;

const knownLengths = (): KnownLengths => new WeakMap();

function costsMore(block: ConversationBlock, tokens: number, known?: KnownLengths): boolean {
  const before = known?.get(block);
  if (before?.tokens === tokens) return before.costsMore;
  const found = isPlainResult(block) && costsAtLeast(block.text, tokens + 1);
  known?.set(block, { tokens, costsMore: found });
  return found;
}

/** Returns the names of the files that a call shows, or the call itself where it names none. */
function sourcesOf(block: ConversationBlock): readonly string[] {
  const names = fileNamesOf(block);
  return names.length > 0 ? names : [JSON.stringify([block.toolName, block.toolInput])];
}

/**
 * Returns the blocks of a request with the decisions on long results; `remember` records those for
 * later turns.
 */
export function withLongResults(
  request: ProxyRequest,
  { memory, options }: Pick<WithinLimit, 'memory' | 'options'>,
): {
  readonly blocks: readonly ConversationBlock[];
  readonly remember: (outcomes: readonly JobOutcome[]) => void;
} {
  const { blocks, allowed, heldBack } = planExcerpts(toConversationBlocks(request), {
    longTokens: options.longResultsTokens ?? 0,
    body: request.original.json,
    decided: memory.record.parts,
    mayDecide: options.forgets !== true,
    history: request.original.history,
  });
  return {
    blocks,
    remember(outcomes) {
      const inParts = [...allowed].filter(([at]) => outcomes[at]?.tokensLeftOut !== undefined);
      const decided = [
        ...heldBack.map((key) => [key, false] as const),
        ...inParts.map(([, key]) => [key, true] as const),
      ].filter(([key, isInParts]) => memory.record.parts.get(key) !== isInParts);
      if (decided.length > 0) memory.set({ parts: decided });
    },
  };
}
