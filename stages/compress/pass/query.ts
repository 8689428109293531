/** The question in the conversation, block by block. */
import type { ConversationBlock } from './blocks.ts';
import { splitPasted } from './user-text.ts';

const QUERY_CHARS = 1500;

/**
 * Returns for every block the question in its own message: the short texts of the message, and the
 * first and last paragraphs of its long ones. Empty for all but user text. Texts later in the same
 * message count too, so a block's outcome depends on them.
 */
export function queriesOf(blocks: readonly ConversationBlock[]): readonly string[] {
  const texts = blocks.map((block) => {
    if (block.kind !== 'user_text') return '';
    const { prefix, suffix } = splitPasted(block.text);
    return `${prefix}\n${suffix}`.slice(-QUERY_CHARS);
  });
  const byMessage = new Map<number, string>();
  blocks.forEach(({ kind, message }, at) => {
    if (kind !== 'user_text' || message === undefined) return;
    const before = byMessage.get(message);
    byMessage.set(message, before === undefined ? texts[at]! : `${before}\n${texts[at]!}`);
  });
  return blocks.map(({ kind, message }, at) => {
    if (kind !== 'user_text') return '';
    const whole = message === undefined ? texts[at]! : byMessage.get(message)!;
    return whole.slice(-2 * QUERY_CHARS);
  });
}
