/** Requests that pass unread: everything about them is the upstream's to judge. */
import type { Block } from '../../model/block.ts';
import type { RequestFacts } from '../dialect.ts';
import { modelInPath } from '../endpoints.ts';

const NO_BLOCKS: readonly Block[] = Object.freeze([]);

export function opaqueBlocks(): readonly Block[] {
  return NO_BLOCKS;
}

/** The path may name a model; the body says nothing, since nobody decodes it. */
export function opaqueFacts(_body: unknown, target: string): RequestFacts {
  return Object.freeze({
    model: modelInPath(target),
    stream: false,
    maxOutputTokens: undefined,
    usageWish: 'unsaid',
    hasTools: false,
    hasThinking: false,
  });
}
