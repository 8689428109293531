/** Keys under which tool results are recorded with a conversation. */
import { createHash } from 'node:crypto';
import type { ConversationBlock } from './blocks.ts';

/**
 * Returns a key for every result, made of its call, its text, and how many equal ones came before
 * it; undefined for other blocks. `isAsked` skips results whose key is not needed; equal texts must
 * get the same answer from it.
 */
export function resultKeys(
  blocks: readonly ConversationBlock[],
  isAsked: (text: string) => boolean = () => true,
): readonly (string | undefined)[] {
  const times = new Map<string, number>();
  return blocks.map((block) => {
    if (block.kind !== 'tool_result' || !isAsked(block.text)) return undefined;
    const { toolUseId = '', toolName = '', toolInput = null, text } = block;
    const digest = createHash('sha256')
      .update(JSON.stringify([toolUseId, toolName, toolInput]))
      .update(`\0${text}`)
      .digest('base64url')
      .slice(0, 16);
    const before = times.get(digest) ?? 0;
    times.set(digest, before + 1);
    return before === 0 ? digest : `${digest}.${before}`;
  });
}
