/**
 * The blocks of a long request as they were read from its body, for the next request of the
 * conversation, which repeats its first messages and shares them (`parse/repeated-bodies.ts`).
 */
import type { Block } from './block.ts';

export interface ToolCall {
  readonly name: string | undefined;
  /** The call's input as JSON text. */
  readonly input: string | undefined;
  /** True if the call is made by a program of the model, which then reads the result. */
  readonly isOfProgram?: boolean;
}

/** A message or input item, and what was read from it. */
export interface ReadItem {
  readonly value: object;
  /** Its first block, and the one after its last. */
  readonly from: number;
  readonly to: number;
  readonly calls: readonly (readonly [id: string, call: ToolCall])[];
}

export interface ReadBlocks {
  readonly blocks: readonly Block[];
  readonly items: readonly ReadItem[];
}

/** Where the list of messages or input items is in the body. */
export interface ItemPlaces {
  /** The member that holds it. */
  readonly name: string;
  readonly start: number;
  /** Where each item ends. */
  readonly ends: readonly number[];
}

/** A text that was sent in place of that of `block`. */
export interface WrittenText {
  readonly block: Block;
  readonly text: string;
  /** The place of the block's own text in the body, and the JSON text that replaces it. */
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

export interface BlockHistory {
  /** Of the earlier request, until this one is read. */
  before: ReadBlocks | undefined;
  /** Of this request, once it is read. */
  now: ReadBlocks | undefined;
  readonly places: ItemPlaces;
  /** By index of the block; all requests of a conversation add to it. */
  readonly written: Map<number, WrittenText>;
}
