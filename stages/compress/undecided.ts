/**
 * What is remembered of a conversation so that a busy machine changes no byte that the
 * provider has already cached: how far it was sent, and which blocks went out as they
 * were because time ran out before they were decided, or their language could not be read.
 */
import { createHash } from 'node:crypto';
import type { Decisions } from '../decisions/decisions.ts';
import type { ConversationBlock } from './conversation/blocks.ts';
import { pinnedSent, pinSent } from './pin.ts';

/** Characters at either end of a block by which it is known as the last one of a turn. */
const MARK_CHARS = 512;

/** The blocks with those protected that went out undecided in an earlier turn. */
export function withoutUndecided(
  decisions: Decisions,
  conversation: string,
  blocks: readonly ConversationBlock[],
): readonly ConversationBlock[] {
  const known = new Set(decisions.get(`slow:${conversation}`)?.split(' '));
  if (known.size === 0) return blocks;
  return blocks.map((block) =>
    mayShrink(block) && known.has(fingerprint(block)) ? asItIs(block) : block,
  );
}

/** The block, protected because it could not be decided, in time or at all. */
export function asItIs(block: ConversationBlock): ConversationBlock {
  return block.protectedReason === undefined ? { ...block, protectedReason: 'undecided' } : block;
}

/** Remembers that `blocks` went out undecided, as they were. */
export function rememberUndecided(
  decisions: Decisions,
  conversation: string,
  blocks: readonly ConversationBlock[],
): void {
  if (blocks.length === 0) return;
  const key = `slow:${conversation}`;
  const known = new Set(decisions.get(key)?.split(' '));
  for (const block of blocks) if (mayShrink(block)) known.add(fingerprint(block));
  if (known.size > 0) decisions.set(key, [...known].join(' '));
}

/** Remembers that all of `blocks` went out. */
export function rememberSent(
  decisions: Decisions,
  conversation: string,
  blocks: readonly ConversationBlock[],
): void {
  const last = blocks.at(-1);
  if (last !== undefined)
    pinSent(decisions, conversation, { blocks: blocks.length, last: endMark(last) });
}

/**
 * How many of the blocks went out in an earlier turn. Where the conversation has gone
 * another way since, all up to the model's last answer count as sent.
 */
export function sentCount(
  decisions: Decisions,
  conversation: string,
  blocks: readonly ConversationBlock[],
): number {
  const sent = pinnedSent(decisions, conversation);
  if (sent === undefined) return 0;
  const last = blocks[sent.blocks - 1];
  if (last !== undefined && endMark(last) === sent.last) return sent.blocks;
  return blocks.findLastIndex((block) => block.role === 'assistant') + 1;
}

function mayShrink({ kind, protectedReason, forgotten }: ConversationBlock): boolean {
  if (forgotten !== undefined) return false;
  return protectedReason === undefined && (kind === 'tool_result' || kind === 'user_text');
}

function fingerprint(block: Pick<ConversationBlock, 'index' | 'text'>): string {
  const digest = createHash('sha256').update(block.text).digest('base64url');
  return `${block.index}:${digest.slice(0, 16)}`;
}

/**
 * Tells the end of one turn from that of another without reading all of a long block. It
 * decides how many blocks are done without a limit, not what becomes of them.
 */
function endMark(block: ConversationBlock): string {
  const { index, text } = block;
  const ends = text.slice(0, MARK_CHARS) + text.slice(-MARK_CHARS);
  return `${text.length}:${fingerprint({ index, text: ends })}`;
}
