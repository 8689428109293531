/**
 * Shows what compression would do to a request, block by block, without a proxy and without storing
 * anything.
 */
import type { ProxyRequest } from '../../model/request.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import { toConversationBlocks } from './blocks.ts';
import type { JobOptions } from '../worker/job.ts';
import type { PinOptions } from './options.ts';
import { withFetchToolAtStart } from '../fetch/turns.ts';
import { planExcerpts } from '../history/long/plan-excerpts.ts';
import { mayForget } from '../history/may-forget.ts';
import { thresholdForBlocks } from './threshold.ts';
import { createToolTrimmer } from '../tools/trim.ts';

/** Options of a new conversation, and how its tool definitions are treated. */
export type DryOptions = JobOptions & Pick<PinOptions, 'tools'>;

/** One block of the request and what would be sent for it. */
export interface DryBlock {
  /** Below 0 for a tool definition, as those precede all blocks. */
  readonly index: number;
  readonly role: string;
  readonly kind: string;
  readonly toolName: string | null;
  /** Class of the text; null if it was not classified. */
  readonly textClass: string | null;
  /** Names of the algorithms that changed it, in order. */
  readonly by: readonly string[];
  /** Why it would be sent unchanged; null for a changed one. */
  readonly reason: string | null;
  readonly changed: boolean;
  readonly before: string;
  readonly after: string;
  /** For a tool definition: the compact JSON that is on the wire. */
  readonly wire?: { readonly before: string; readonly after: string };
  /** Estimated by the fixed estimator, which decisions are based on. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * Runs the same code as the proxy, for the first request of a conversation. Tool definitions come
 * first, and only those that would change.
 */
export async function dryRun(
  request: ProxyRequest,
  { tools, ...options }: DryOptions,
): Promise<readonly DryBlock[]> {
  const blocks = request.original.blocks();
  const forgets = mayForget(request.original.json);
  const { blocks: taken } = planExcerpts(toConversationBlocks(request), {
    longTokens: options.longResultsTokens ?? 0,
    body: request.original.json,
    decided: new Map(),
    mayDecide: !forgets,
  });
  const outcomes = await createConversationCompressor(0).compress({
    blocks: withFetchToolAtStart(taken, request.original.json),
    options: {
      ...options,
      thresholdTokens: thresholdForBlocks(request.original.json, options.thresholdTokens),
      forgets,
    },
  });
  const trimmed = tools === 'trim' && options.mode !== 'strict' ? trimmedIn(request) : [];
  const made = outcomes.flatMap((outcome): DryBlock[] => {
    const block = blocks[outcome.index];
    if (block === undefined) return [];
    return [
      {
        index: block.index,
        role: block.role,
        kind: block.kind,
        toolName: block.toolName ?? null,
        textClass: outcome.classification?.kind ?? null,
        by: outcome.by,
        reason: outcome.changed ? null : (outcome.reason ?? null),
        changed: outcome.changed,
        before: block.text,
        after: outcome.text ?? block.text,
        tokensBefore: outcome.tokensBefore,
        tokensAfter: outcome.tokensAfter,
      },
    ];
  });
  return [...trimmed, ...made];
}

function trimmedIn(request: ProxyRequest): readonly DryBlock[] {
  return createToolTrimmer()(request).changed.map(({ block, before, after }) => ({
    ...block,
    role: 'system',
    kind: 'tool_definition',
    textClass: null,
    reason: null,
    changed: true,
    wire: { before, after },
  }));
}
