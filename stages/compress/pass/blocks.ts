/** The blocks of a request in the form the compressor takes. */
import { parseJson } from '../../dialect/json-kind.ts';
import type { Block } from '../../model/block.ts';
import { sharedBy } from '../../model/block-history.ts';
import { isBillingBlock } from '../../model/conversation.ts';
import type { ProxyRequest } from '../../model/request.ts';

/** One block of a conversation, in order. Blocks of every kind count towards the threshold. */
export interface ConversationBlock {
  readonly index: number;
  readonly role: string;
  /** Only `tool_result` and `user_text` are ever rewritten. */
  readonly kind: 'tool_result' | 'user_text' | 'tool_use' | 'other';
  readonly text: string;
  /** The message that the block belongs to; text elsewhere in it may ask about this block. */
  readonly message?: number;
  /** Id of the call that this block answers; a result may have several blocks. */
  readonly toolUseId?: string;
  readonly toolName?: string;
  /** The tool's input, parsed. */
  readonly toolInput?: unknown;
  readonly isError?: boolean;
  /**
   * True if a program written by the model makes the call or reads the result, so that the model
   * sees neither.
   */
  readonly isForProgram?: boolean;
  /** Why the block must not be changed; set by the code that protects it. */
  readonly protectedReason?: string;
  /** Marker sent in its place, decided at a cold moment; and the tokens of what was sent before. */
  readonly forgotten?: string;
  readonly tokensForgotten?: number;
  /**
   * Text that must be sent as before, as a later thought is signed over it; `text` itself if it was
   * unchanged.
   */
  readonly sentAs?: string;
  /**
   * The client's text, where `text` was replaced by the earlier, forgotten result that it points
   * to.
   */
  readonly pointerText?: string;
  /** The client's tool that fetches this result whole, where it may be named. */
  readonly fetchTool?: string;
  /**
   * How a range of lines can be requested from the tool; set on a result that may be sent as an
   * excerpt if it stays long.
   */
  readonly rangeRequest?: string;
}

/** Returns true for a result of a known call that is not an error and may be changed. */
export function isPlainResult(block: ConversationBlock): boolean {
  return (
    block.kind === 'tool_result' &&
    block.isError !== true &&
    block.protectedReason === undefined &&
    block.toolInput !== undefined
  );
}

/**
 * Returns every block of the request, in reading order, as the client sent it. The billing line
 * that changes with every request is left out: counted, it could shift the threshold from one turn
 * to the next.
 */
export function toConversationBlocks({ original }: ProxyRequest): readonly ConversationBlock[] {
  const made = sharedBy(original.history, madeBlocks);
  const blocks: ConversationBlock[] = [];
  for (const block of original.blocks()) {
    if (isBillingBlock(block)) continue;
    const reason = original.protectedBy(block.index);
    let known = made?.get(block.index);
    if (known === undefined || known.block !== block || known.reason !== reason) {
      known = { block, reason, made: toConversationBlock(block, reason) };
      made?.set(block.index, known);
    }
    blocks.push(known.made);
  }
  return blocks;
}

interface MadeBlock {
  readonly block: Block;
  readonly reason: string | undefined;
  readonly made: ConversationBlock;
}

/** Makes the blocks of a conversation, by index of the block that they are made of. */
const madeBlocks = (): Map<number, MadeBlock> => new Map();

function toConversationBlock(block: Block, reason: string | undefined): ConversationBlock {
  return {
    index: block.index,
    role: block.role,
    kind: kindOf(block),
    // Later text must not refer to text that only a program reads or writes.
    text: block.isForProgram === true ? '' : block.text,
    ...(block.isForProgram === true ? { isForProgram: true } : {}),
    message: block.message,
    ...(block.toolUseId === undefined ? {} : { toolUseId: block.toolUseId }),
    ...(block.toolName === undefined ? {} : { toolName: block.toolName }),
    ...(block.toolInput === undefined ? {} : { toolInput: parsed(block.toolInput) }),
    ...(block.isError === undefined ? {} : { isError: block.isError }),
    ...(reason === undefined ? {} : { protectedReason: reason }),
  };
}

function kindOf(block: Block): ConversationBlock['kind'] {
  if (block.kind === 'tool_use') return block.kind;
  if (block.isForProgram === true) return 'other';
  if (block.kind === 'tool_result') return block.kind;
  return block.kind === 'text' && block.role === 'user' ? 'user_text' : 'other';
}

function parsed(json: string): unknown {
  // The model's call need not be valid JSON, or nests too deep to be passed to a thread. Its text
  // is then the only hint.
  return parseJson(json) ?? json;
}
