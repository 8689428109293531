/**
 * Which blocks may never be rewritten, and why: the only place where this is decided. The rest is
 * tool output and long text that a user pasted.
 */
import type { Block, ProtectedReason } from './block.ts';

/** An error result up to this many characters is sent unchanged: agents act on its details. */
const MAX_PROTECTED_ERROR_CHARS = 8000;

/** User text up to this many characters counts as typed by hand. */
export const MAX_TYPED_CHARS = 2000;

function reasonFor(block: Block): ProtectedReason | undefined {
  if (block.role === 'system' || block.kind === 'system') return 'system';
  if (block.kind === 'thinking') return 'thinking';
  if (block.kind === 'tool_use') return 'tool_call';
  if (block.role === 'assistant') return 'assistant';
  // The program parses its input, and a note of svc is not part of it.
  if (block.isForProgram === true) return 'program';
  if (block.hasCitations === true) return 'citations';
  if (block.kind === 'image' || block.kind === 'document') return 'media';
  if (block.kind === 'other' || block.path === undefined) return 'opaque';
  if (block.kind === 'tool_result') {
    const short = block.text.length <= MAX_PROTECTED_ERROR_CHARS;
    return block.isError === true && short ? 'error_result' : undefined;
  }
  return block.text.length <= MAX_TYPED_CHARS ? 'typed' : undefined;
}

/**
 * Returns for every block, by its index, why it is protected; undefined for one that may be
 * rewritten.
 */
export function protectedReasons(
  blocks: readonly Block[],
): readonly (ProtectedReason | undefined)[] {
  return blocks.map(reasonFor);
}
