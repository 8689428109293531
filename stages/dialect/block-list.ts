/**
 * Collects the blocks of a request in reading order, and the tool calls that later results refer
 * to.
 */
import type { Block, BlockKind, JsonPath } from '../model/block.ts';
import type { BlockHistory, ReadItem, ToolCall } from '../model/block-history.ts';
import { isObject } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** What the blocks of one message, or of one tool result, have in common. */
export interface BlockHolder {
  readonly message: number;
  readonly role: Block['role'];
  readonly kind: BlockKind;
  readonly toolUseId?: string | undefined;
  readonly call?: ToolCall | undefined;
  readonly isError?: boolean;
  /** True if the holder itself has a cache marker, which then applies to each of its blocks. */
  readonly hasCacheControl?: boolean;
}

/**
 * Returns true for a `caller` of a call or result that is not the model itself; clients send it
 * back unchanged.
 */
export function isProgram(caller: unknown): boolean {
  return isObject(caller) && caller['type'] !== 'direct';
}

export type BlockList = ReturnType<typeof createBlockList>;

/** The items that `history` shares with an earlier request are not read again. */
export function createBlockList(history?: BlockHistory) {
  const list: Block[] = [];
  const calls = new Map<string, ToolCall>();
  const items: ReadItem[] = [];
  const before = history?.before;
  let ownCalls: (readonly [string, ToolCall])[] = [];
  return {
    /**
     * Adds the blocks of the next message or input item; `read` adds those of a new one. An item is
     * shared with another request only if all items before it are.
     */
    addItem(value: object, read: () => void): void {
      if (history === undefined) return read();
      const from = list.length;
      const known = before?.items[items.length];
      if (before !== undefined && known?.value === value && known.from === from) {
        for (let at = from; at < known.to; at += 1) list.push(before.blocks[at]!);
        for (const [id, call] of known.calls) calls.set(id, call);
        items.push(known);
        return;
      }
      ownCalls = [];
      read();
      items.push({ value, from, to: list.length, calls: ownCalls });
    },
    /**
     * Adds a block without text of its own in the body; `part` is what it was read from, `text`
     * what the model reads.
     */
    add(holder: BlockHolder, kind: BlockKind, part?: JsonObject, text: string = ''): void {
      list.push(toBlock(list.length, holder, kind, undefined, text, part));
    },
    /**
     * Adds a block whose text is the string at `path`, or one without text if `text` is not a
     * string.
     */
    addText(
      holder: BlockHolder,
      kind: BlockKind,
      text: unknown,
      path: JsonPath,
      part?: JsonObject,
    ): void {
      const isText = typeof text === 'string';
      const at = isText ? path : undefined;
      list.push(toBlock(list.length, holder, kind, at, isText ? text : '', part));
    },
    /** Stores a call under its id. */
    call(id: string, call: ToolCall): void {
      calls.set(id, call);
      if (history !== undefined) ownCalls.push([id, call]);
    },
    /** Returns the call that a result answers. */
    callOf: (id: string | undefined): ToolCall | undefined =>
      id === undefined ? undefined : calls.get(id),
    blocks(): readonly Block[] {
      const blocks = Object.freeze(list);
      if (history !== undefined) {
        history.before = undefined;
        history.now = { blocks, items };
      }
      return blocks;
    },
  };
}

/**
 * Assigned field by field: a long conversation has hundreds of blocks, and spreading costs several
 * times as much.
 */
function toBlock(
  index: number,
  holder: BlockHolder,
  kind: BlockKind,
  path: JsonPath | undefined,
  text: string,
  part: JsonObject | undefined,
): Block {
  const { message, role, call } = holder;
  const block: Writable<Block> = { index, message, role, kind, path, text };
  if (holder.toolUseId !== undefined) block.toolUseId = holder.toolUseId;
  if (call?.name !== undefined) block.toolName = call.name;
  if (call?.input !== undefined) block.toolInput = call.input;
  if (holder.isError === true) block.isError = true;
  if (call?.isOfProgram === true) block.isForProgram = true;
  if (holder.hasCacheControl === true || isObject(part?.['cache_control'])) {
    block.hasCacheControl = true;
  }
  if (part !== undefined && mayBeCited(part)) block.hasCitations = true;
  return block;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Text has a list of citations (in one dialect called annotations); a document says whether it may
 * be cited.
 */
function mayBeCited(part: JsonObject): boolean {
  const citations = part['citations'] ?? part['annotations'];
  if (citations === undefined) return false;
  return Array.isArray(citations)
    ? citations.length > 0
    : isObject(citations) && citations['enabled'] === true;
}
