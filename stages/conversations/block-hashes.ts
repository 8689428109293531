/**
 * Hashes of a request's blocks. A conversation is sent again and again with more at its end. Blocks
 * shared with the previous request are found by comparison, at a tenth of the cost, and not hashed
 * again. This only saves time; the hashes do not depend on it.
 */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isObject } from '../dialect/json-kind.ts';
import { isEditable } from '../model/block.ts';
import type { Block } from '../model/block.ts';
import { createNaming, isBillingBlock } from '../model/conversation.ts';
import type { Original } from '../model/request.ts';
import { shortDigest, shortHash } from '../model/short-hash.ts';
import { isSent, textHash } from './sent-text.ts';

/** Characters of recent requests kept for comparison: about ten long conversations. */
const MAX_CHARS = 4 * 1024 * 1024;
/** Shorter requests are hashed just as fast as compared. */
const MIN_CHARS = 64 * 1024;

/** The hashes of one request so far. */
interface Hashed {
  readonly blocks: readonly Block[];
  readonly chars: number;
  /** The tools, which precede all blocks, and their JSON text once needed. */
  readonly tools: unknown;
  toolsText: string | undefined;
  /** Names of blocks so far (undefined if not editable), and how often each hash has occurred. */
  readonly names: (string | undefined)[];
  readonly times: Map<string, number>;
  /** Memoized comparisons with stored texts, by block. */
  readonly compared: Map<number, Compared>;
  /** Hashes of the first N blocks, by N. */
  readonly ends: Map<number, string>;
  /**
   * The unfinished hash of all blocks before index `hashedTo`; `isAnswered` if one of them is the
   * model's.
   */
  hash: Hash | undefined;
  hashedTo: number;
  isAnswered: boolean;
}

/** Whether `text` is the text that `written` encodes. */
interface Compared {
  readonly written: string;
  readonly text: string;
  readonly isSame: boolean;
}

/** The hashes of one request, each computed on first use. */
export class BlockHashes {
  readonly #original: Original;
  readonly #hashed: Hashed;

  constructor(original: Original, hashed: Hashed) {
    this.#original = original;
    this.#hashed = hashed;
  }

  /**
   * Names an editable block by text, tool call and number of equal blocks before it; undefined if
   * not editable.
   */
  nameOf(index: number): string | undefined {
    return nameOf(this.#hashed, index);
  }

  /** Returns true if `written` encodes `text`, which is not the original of the block. */
  isSent(index: number, written: string, text: string): boolean {
    return isSentAs(this.#hashed, index, written, text);
  }

  /**
   * Returns hashes of the tools and the first N blocks, by N: for all blocks, and for each N in
   * `counts`.
   */
  upTo(counts: Iterable<number>): ReadonlyMap<number, string> {
    return hashesUpTo(this.#hashed, this.#original.beginning(), counts);
  }
}

/** Creates the hashes of requests, in the order in which they arrive; call it once per request. */
export function createBlockHashes(): (original: Original) => BlockHashes {
  const newest = new LRUCache<string, Hashed>({
    maxSize: MAX_CHARS,
    sizeCalculation: ({ chars }) => chars,
  });
  const open = (original: Original): Hashed => {
    const blocks = original.blocks();
    let chars = 0;
    for (const { text } of blocks) chars += text.length;
    const hashed: Hashed = {
      blocks,
      chars,
      tools: toolsOf(original.json),
      toolsText: undefined,
      names: [],
      times: new Map(),
      compared: new Map(),
      ends: new Map(),
      hash: undefined,
      hashedTo: 0,
      isAnswered: false,
    };
    if (chars < MIN_CHARS) return hashed;
    const id = original.conversation();
    const before = newest.get(id);
    if (before !== undefined) resume(hashed, before);
    newest.set(id, hashed);
    return hashed;
  };
  return (original) => new BlockHashes(original, open(original));
}

/** Copies the hashes of the leading blocks that both requests share. */
function resume(hashed: Hashed, before: Hashed): void {
  const { blocks, tools, names, times, ends } = hashed;
  const differs = before.blocks.findIndex((block, at) => !isSame(block, blocks[at]));
  const same = differs < 0 ? before.blocks.length : differs;
  for (const [index, compared] of before.compared)
    if (index < same) hashed.compared.set(index, compared);
  if (before.names.length <= same) {
    names.push(...before.names);
    for (const [name, count] of before.times) times.set(name, count);
  }
  if (!isSameJson(before.tools, tools)) return;
  hashed.toolsText = before.toolsText;
  for (const [end, hash] of before.ends) if (end <= same) ends.set(end, hash);
  if (before.hashedTo > same) return;
  hashed.hash = before.hash?.copy();
  hashed.hashedTo = before.hashedTo;
  hashed.isAnswered = before.isAnswered;
}

function isSame(one: Block, other: Block | undefined): boolean {
  if (isBillingBlock(one)) return other !== undefined && isBillingBlock(other);
  return (
    other !== undefined &&
    one.text === other.text &&
    one.role === other.role &&
    one.kind === other.kind &&
    one.toolUseId === other.toolUseId &&
    one.message === other.message &&
    (one.path === undefined) === (other.path === undefined)
  );
}

function nameOf({ blocks, names, times }: Hashed, index: number): string | undefined {
  for (let at = names.length; at <= index && at < blocks.length; at += 1) {
    const block = blocks[at]!;
    if (!isEditable(block)) {
      names.push(undefined);
      continue;
    }
    const name = textHash(`${block.toolUseId ?? ''}\0${block.text}`);
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    names.push(before === 0 ? name : `${name}.${before}`);
  }
  return names[index];
}

function isSentAs({ compared }: Hashed, index: number, written: string, text: string): boolean {
  const before = compared.get(index);
  if (before?.written === written && before.text === text) return before.isSame;
  const answer = isSent(written, text);
  compared.set(index, { written, text, isSame: answer });
  return answer;
}

/**
 * Returns the hashes by number of blocks. Blocks that went into `beginning` are not hashed again:
 * hashes are only compared within one conversation.
 */
function hashesUpTo(
  hashed: Hashed,
  beginning: string,
  counts: Iterable<number>,
): ReadonlyMap<number, string> {
  const { blocks, ends } = hashed;
  const wanted = new Set([blocks.length]);
  for (const count of counts) if (count < blocks.length) wanted.add(count);
  const missing = [...wanted].filter((end) => !ends.has(end));
  if (missing.length === 0) return ends;
  const tools = (hashed.toolsText ??=
    hashed.tools === undefined ? '' : JSON.stringify(hashed.tools));
  const isNaming = createNaming();
  // Most requests are short and have no earlier length to check: one call hashes everything.
  if (wanted.size === 1 && hashed.chars < MIN_CHARS) {
    const parts = blocks.flatMap((block) => (isNaming(block) ? [] : partsOf(block)));
    const isInName = parts.length === 0 && tools === '';
    ends.set(blocks.length, isInName ? beginning : shortHash([beginning, tools, ...parts]));
    return ends;
  }
  const isResumed = hashed.hash !== undefined && missing.every((end) => end >= hashed.hashedTo);
  const from = isResumed ? hashed.hashedTo : 0;
  const hash = isResumed ? hashed.hash! : createHash('sha256').update(beginning).update(tools);
  // A conversation's name covers nothing after the first answer.
  const isAfterAnswer = isResumed && hashed.isAnswered;
  let isInName = tools === '' && !isAfterAnswer;
  const note = (end: number): void => {
    if (wanted.has(end)) ends.set(end, isInName ? beginning : shortDigest(hash.copy()));
  };
  for (let at = isAfterAnswer ? from : 0; at < blocks.length; at += 1) {
    if (at >= from) note(at);
    const block = blocks[at]!;
    hashed.isAnswered ||= block.role === 'assistant';
    if ((!isAfterAnswer && isNaming(block)) || isBillingBlock(block)) continue;
    isInName = false;
    if (at < from) continue;
    for (const part of partsOf(block)) hash.update(part);
  }
  note(blocks.length);
  hashed.hash = hash;
  hashed.hashedTo = blocks.length;
  return ends;
}

/** Returns what distinguishes a block from others. */
function partsOf(block: Block): readonly string[] {
  if (isBillingBlock(block)) return [];
  return [`\0${block.role}\0${block.kind}\0${block.toolUseId ?? ''}\0`, block.text];
}

function toolsOf(json: unknown): unknown {
  return (isObject(json) ? json['tools'] : undefined) ?? undefined;
}

/** Returns true if both have the same JSON, including the order of members. */
function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((value, at) => isSameJson(value, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  if (names.length !== others.length) return false;
  return names.every((name, at) => name === others[at] && isSameJson(one[name], other[name]));
}
