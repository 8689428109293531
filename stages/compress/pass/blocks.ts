/** A request's blocks as the compressor takes them. */
import type { Block } from '../../model/block.ts';
import { isBillingBlock } from '../../model/conversation.ts';
import type { ProxyRequest } from '../../model/request.ts';

/** One block of a conversation, in order. Blocks of any kind count towards the threshold. */
export interface ConversationBlock {
  readonly index: number;
  readonly role: string;
  /** Only `tool_result` and `user_text` are ever rewritten. */
  readonly kind: 'tool_result' | 'user_text' | 'tool_use' | 'other';
  readonly text: string;
  /** The message that the block belongs to; blocks of one message may be asked about by that message's text. */
  readonly message?: number;
  /** The call that a block of a tool result answers; several blocks may be parts of one result. */
  readonly toolUseId?: string;
  readonly toolName?: string;
  /** The tool's input, parsed. */
  readonly toolInput?: unknown;
  readonly isError?: boolean;
  /** True where a program of the model makes the call, or reads the result, and the model sees neither. */
  readonly isForProgram?: boolean;
  /** Why the block must not be touched; set by whoever protects. */
  readonly protectedReason?: string;
  /** What goes out in its place, decided at a cold moment; and the tokens of what went out before. */
  readonly forgotten?: string;
  readonly tokensForgotten?: number;
  /** What goes out in any case, as it went out before a thought that is signed over it; `text` itself for one that stays as it came. */
  readonly sentAs?: string;
  /** What the client sent, where `text` is that of an earlier result to which it points and which is left out. */
  readonly pointed?: string;
  /** The client's tool that fetches this result whole, where it may be named. */
  readonly fetchTool?: string;
  /** How the tool is asked for a part, in a result that may be left in parts if it stays long. */
  readonly partWords?: string;
}

/** True for the result of a call that is known, which is no error and may be touched. */
export function isPlainResult(block: ConversationBlock): boolean {
  return (
    block.kind === 'tool_result' &&
    block.isError !== true &&
    block.protectedReason === undefined &&
    block.toolInput !== undefined
  );
}

/**
 * Every block of the request, in reading order, as the client sent it. The billing line
 * that changes with every request is left out: counted, it could move the threshold from
 * one turn to the next.
 */
export function toConversationBlocks(request: ProxyRequest): readonly ConversationBlock[] {
  return request.original
    .blocks()
    .filter((block) => !isBillingBlock(block))
    .map((block) => toConversationBlock(block, request));
}

function toConversationBlock(block: Block, request: ProxyRequest): ConversationBlock {
  const reason = request.original.protectedBy(block.index);
  return {
    index: block.index,
    role: block.role,
    kind: kindOf(block),
    // What only a program reads or writes is nothing that a later text may refer to.
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
  try {
    return JSON.parse(json);
  } catch {
    // Arguments that the model wrote need not be JSON; as text they are as good a hint.
    return json;
  }
}
