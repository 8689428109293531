/**
 * Hashes of a request's blocks. A conversation is sent repeatedly, each time with more at its end.
 * Blocks shared with the previous request are found by comparison, at a tenth of the cost, and not
 * hashed again. This only saves time; the hashes do not depend on it.
 */
import { LRUCache } from 'lru-cache';
import { isObject } from '../dialect/json-kind.ts';
import { isEditable } from '../model/block.ts';
import type { Block } from '../model/block.ts';
import { clientSession, headOf, isBillingBlock } from '../model/conversation.ts';
import type { Head } from '../model/conversation.ts';
import type { Original } from '../model/request.ts';
import { isSameJson } from '../dialect/same-json.ts';
import { shortHash } from '../model/short-hash.ts';
import { isSent, textHash } from './sent-text.ts';

/** Characters of recent requests kept for comparison: about ten long conversations. */
const MAX_CHARS = 4 * 1024 * 1024;
/** Shorter requests are hashed just as fast as compared. */
const MIN_CHARS = 64 * 1024;

/** Names of leading blocks; undefined for a block that is not editable. */
interface BlockNames {
  readonly list: (string | undefined)[];
  /** How often each hash has occurred. */
  readonly counts: Map<string, number>;
}

/** Whether `text` is the text that `written` encodes. */
interface Compared {
  readonly written: string;
  readonly text: string;
  readonly isSame: boolean;
}

/** Creates the hashes of requests, in the order in which they arrive; call it once per request. */
export function createBlockHashes(): (original: Original) => BlockHashes {
  /** The newest request of each conversation. */
  const newest = new LRUCache<string, BlockHashes>({
    maxSize: MAX_CHARS,
    sizeCalculation: ({ chars }) => chars,
  });
  return (original) => {
    const hashes = new BlockHashes(original);
    const isKept = hashes.chars >= MIN_CHARS && hashes.chars <= MAX_CHARS;
    if (isKept)
      for (const [id, before] of newest.entries())
        if (hashes.continues(before)) original.continues(before.beginning, id);
    hashes.beginning = original.beginning();
    if (isKept) newest.set(original.conversation(), hashes);
    return hashes;
  };
}

/** The hashes of one request, each computed on first use. */
export class BlockHashes {
  /** Characters of all blocks. */
  readonly chars: number;
  /** `Original.beginning`. */
  beginning = '';
  readonly #blocks: readonly Block[];
  readonly #head: Head;
  readonly #caller: string;
  readonly #session: string | undefined;
  /** The tools, which precede all blocks. */
  readonly #tools: unknown;
  // A request that continues all blocks of another shares these with it, and both add to them.
  #names: BlockNames = { list: [], counts: new Map() };
  /** Memoized comparisons with stored texts, by block. */
  #compared = new Map<number, Compared>();
  /** Hashes of `#chainTools` and the first N blocks, at N. */
  #chain: string[] = [];
  #chainTools: unknown;

  constructor(original: Original) {
    this.#blocks = original.blocks();
    this.#head = headOf(this.#blocks);
    this.#caller = original.caller();
    this.#session = clientSession(original.body.headers);
    this.#tools = (isObject(original.json) ? original.json['tools'] : undefined) ?? undefined;
    this.#chainTools = this.#tools;
    let chars = 0;
    for (const { text } of this.#blocks) chars += text.length;
    this.chars = chars;
  }

  /**
   * Takes over the hashes of an earlier request for the leading blocks that both share. Returns
   * false if it belongs to another conversation.
   */
  continues(before: BlockHashes): boolean {
    const { length, chars } = this.#head;
    if (before.#head.length !== length || before.#head.chars !== chars) return false;
    if (before.#session !== this.#session || before.#caller !== this.#caller) return false;
    const differs = before.#blocks.findIndex((block, at) => !isSame(block, this.#blocks[at]));
    const same = differs < 0 ? before.#blocks.length : differs;
    if (same < length) return false;
    const isWhole = same === before.#blocks.length;
    this.#compared = before.#compared;
    this.#names = isWhole ? before.#names : leadingNames(before.#names, same);
    this.#chain = isWhole ? before.#chain : before.#chain.slice(0, same + 1);
    this.#chainTools = before.#chainTools;
    return true;
  }

  /**
   * Names an editable block by text, tool call and number of equal blocks before it; undefined if
   * not editable.
   */
  nameOf(index: number): string | undefined {
    const { list, counts } = this.#names;
    for (let at = list.length; at <= index && at < this.#blocks.length; at += 1) {
      const block = this.#blocks[at]!;
      if (!isEditable(block)) {
        list.push(undefined);
        continue;
      }
      const name = textHash(`${block.toolUseId ?? ''}\0${block.text}`);
      const before = counts.get(name) ?? 0;
      counts.set(name, before + 1);
      list.push(before === 0 ? name : `${name}.${before}`);
    }
    return list[index];
  }

  /** Returns true if `written` encodes `text`, which is not the original of the block. */
  isSent(index: number, written: string, text: string): boolean {
    const before = this.#compared.get(index);
    const isKnown = before?.written === written && before.text === text;
    const now = { written, text, isSame: isKnown ? before.isSame : isSent(written, text) };
    // The same string object will be compared again.
    this.#compared.set(index, now);
    return now.isSame;
  }

  /**
   * Returns a hash of the tools and the first `count` blocks. Blocks that are part of `beginning`
   * are not hashed again: hashes are only compared within one conversation.
   */
  upTo(count: number): string {
    if (!isSameJson(this.#chainTools, this.#tools)) this.#chain = [];
    this.#chainTools = this.#tools;
    const chain = this.#chain;
    if (chain.length === 0) chain.push(this.#hashOf(this.beginning, this.#toolsText()));
    for (let at = chain.length - 1; at < count; at += 1)
      chain.push(this.#hashOf(chain[at]!, this.#linkOf(at)));
    return chain[count]!;
  }

  /** Returns the parts of a block; the name of an editable one hashes its text already. */
  #linkOf(at: number): readonly string[] {
    const parts = this.#partsOf(at);
    const name = parts.length === 0 ? undefined : this.nameOf(at);
    return name === undefined ? parts : [parts[0]!, name];
  }

  /** Returns the value that an older version stored instead of `upTo`. */
  olderUpTo(count: number): string {
    const parts = Array.from({ length: count }, (_, at) => this.#partsOf(at)).flat();
    return this.#hashOf(this.beginning, [...this.#toolsText(), ...parts]);
  }

  #hashOf(before: string, parts: readonly string[]): string {
    return parts.length === 0 ? before : shortHash([before, ...parts]);
  }

  #toolsText(): readonly string[] {
    return this.#tools === undefined ? [] : [JSON.stringify(this.#tools)];
  }

  /**
   * Returns the parts that distinguish a block; none for a block that names the conversation or is
   * the billing line.
   */
  #partsOf(at: number): readonly string[] {
    const block = this.#blocks[at]!;
    if (this.#head.naming.has(block) || isBillingBlock(block)) return [];
    return [`\0${block.role}\0${block.kind}\0${block.toolUseId ?? ''}\0`, block.text];
  }
}

function leadingNames({ list }: BlockNames, count: number): BlockNames {
  const names: BlockNames = { list: list.slice(0, count), counts: new Map() };
  for (const name of names.list) {
    const [hash = ''] = name?.split('.', 1) ?? [];
    if (name !== undefined) names.counts.set(hash, (names.counts.get(hash) ?? 0) + 1);
  }
  return names;
}

function isSame(one: Block, other: Block | undefined): boolean {
  if (one === other) return true;
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
