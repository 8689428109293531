/** Collects the blocks of a request in reading order, and the tool calls that later results refer to. */
import type { Block, BlockKind, JsonPath } from '../model/block.ts';

/** What a reader says of a block; its index is given here, what is not said is left out. */
export interface BlockDraft {
  readonly message: number;
  readonly role: Block['role'];
  readonly kind: BlockKind;
  readonly path?: JsonPath | undefined;
  readonly text?: string;
  readonly call?: ToolCall | undefined;
  readonly toolUseId?: string | undefined;
  readonly isError?: boolean;
  readonly hasCacheControl?: boolean;
  readonly hasCitations?: boolean;
}

export interface ToolCall {
  readonly name: string | undefined;
  /** The call's input as JSON text. */
  readonly input: string | undefined;
}

export interface BlockList {
  add(draft: BlockDraft): void;
  /** Remembers a call under its id. */
  call(id: string, call: ToolCall): void;
  /** The call that a result answers. */
  callOf(id: string | undefined): ToolCall | undefined;
  blocks(): readonly Block[];
}

export function createBlockList(): BlockList {
  const list: Block[] = [];
  const calls = new Map<string, ToolCall>();
  return {
    add: (draft) => void list.push(toBlock(draft, list.length)),
    call: (id, call) => void calls.set(id, call),
    callOf: (id) => (id === undefined ? undefined : calls.get(id)),
    blocks: () => Object.freeze(list),
  };
}

function toBlock(draft: BlockDraft, index: number): Block {
  const { message, role, kind, path, text = '', toolUseId, call } = draft;
  return Object.freeze({
    index,
    message,
    role,
    kind,
    path,
    text,
    ...(toolUseId === undefined ? undefined : { toolUseId }),
    ...(call?.name === undefined ? undefined : { toolName: call.name }),
    ...(call?.input === undefined ? undefined : { toolInput: call.input }),
    ...(draft.isError === true ? { isError: true } : undefined),
    ...(draft.hasCacheControl === true ? { hasCacheControl: true } : undefined),
    ...(draft.hasCitations === true ? { hasCitations: true } : undefined),
  });
}
