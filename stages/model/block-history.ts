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

export interface BlockHistory {
  /** Of the earlier request, until this one is read. */
  before: ReadBlocks | undefined;
  /** Of this request, once it is read. */
  now: ReadBlocks | undefined;
  readonly places: ItemPlaces;
  /** What stages keep for the next request of the conversation, each under what made it. */
  readonly shared: Map<() => unknown, unknown>;
}

/**
 * Returns what `make` returned at its first call for the conversation; undefined for a short one.
 * Requests that branch share it, so what it says of a block is valid only for the same object.
 */
export function sharedBy<T>(history: BlockHistory | undefined, make: () => T): T | undefined {
  if (history === undefined) return undefined;
  const { shared } = history;
  if (!shared.has(make)) shared.set(make, make());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what `make` returned
  return shared.get(make) as T;
}
