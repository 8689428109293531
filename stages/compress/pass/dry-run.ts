/** What compression would do to a request, block by block, without a proxy and without remembering anything. */
import type { ProxyRequest } from '../../model/request.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import { toConversationBlocks } from './blocks.ts';
import type { JobOptions } from '../worker/job.ts';
import type { PinOptions } from './options.ts';
import { withFetchToolOf } from '../fetch/turns.ts';
import { withParts } from '../history/long/decide.ts';
import { mayForget } from '../history/may-forget.ts';
import { leftForBlocks } from './threshold.ts';
import { createToolTrimmer } from '../tools/trim.ts';

/** What a new conversation is compressed with, and what is done to its definitions of tools. */
export type DryOptions = JobOptions & Pick<PinOptions, 'tools'>;

/** One block of the request with what would go out for it. */
export interface DryBlock {
  /** Below 0 for a definition of a tool, which stands before all blocks. */
  readonly index: number;
  readonly role: string;
  readonly kind: string;
  readonly toolName: string | null;
  /** The text's class; null where nobody looked at it. */
  readonly textClass: string | null;
  /** Names of the algorithms that changed it, in order. */
  readonly by: readonly string[];
  /** Why it would go out as it is; null for a changed one. */
  readonly reason: string | null;
  readonly changed: boolean;
  readonly before: string;
  readonly after: string;
  /** Both without the layout, of a definition: what stands in the request. */
  readonly wire?: { readonly before: string; readonly after: string };
  /** By the fixed estimator, which decides. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * Runs the code that a proxy runs, as for the first request of a conversation. Definitions of
 * tools come first, and only those that would change.
 */
export async function dryRun(
  request: ProxyRequest,
  { tools, ...options }: DryOptions,
): Promise<readonly DryBlock[]> {
  const blocks = request.original.blocks();
  const forgets = mayForget(request.original.json);
  const { blocks: taken } = withParts(toConversationBlocks(request), {
    longTokens: options.longResultsTokens ?? 0,
    body: request.original.json,
    decided: new Map(),
    mayDecide: !forgets,
  });
  const outcomes = await createConversationCompressor(0).compress({
    blocks: withFetchToolOf(taken, request.original.json),
    options: {
      ...options,
      thresholdTokens: leftForBlocks(request.original.json, options.thresholdTokens),
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
