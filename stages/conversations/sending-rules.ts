/**
 * Decides how each block of a conversation with thinking blocks may be sent. A thinking block is
 * signed over everything before it. So whatever precedes the last one is sent as it was when the
 * signature was made, even if settings have changed since:
 *
 * - `as-sent`: its sent text is stored and is repeated;
 * - `raw`: it precedes the last thinking block and nothing is stored about it: it is sent
 *   unmodified;
 * - `free`: it is new and may be compressed.
 *
 * In a conversation without thinking blocks every block is free.
 */
import type { Block } from '../model/block.ts';
import type { Original } from '../model/request.ts';
import type { BlockHashes } from './block-hashes.ts';
import type { ConversationRecord } from './record.ts';
import { RAW, readSent } from './sent-text.ts';

/** How one block may be sent. */
export type SendingRule = 'as-sent' | 'raw' | 'free';

/**
 * The part of a record that is needed; `isTrusted` means that recomputing a block without an entry
 * gives what was sent.
 */
export interface SentRecord {
  readonly sent: ConversationRecord['sent'];
  readonly isTrusted: boolean;
}

/** Returns true for a thinking block of the model. */
export function isThought({ kind, role }: Block): boolean {
  return kind === 'thinking' && role === 'assistant';
}

/**
 * Returns true if the dialect's providers sign thinking blocks over what precedes them; else
 * reasoning is text.
 */
export function signsThoughts({ dialect }: Pick<Original, 'dialect'>): boolean {
  return dialect.name === 'messages' || dialect.name === 'responses';
}

const NOTHING_SENT: ReadonlyMap<string, string> = new Map();

/** Decides for the blocks of a request as received. Results are computed on first use and kept. */
export class SendingRules {
  /** True if there are signed thinking blocks, or if `isClosed`. */
  readonly isBound: boolean;
  /** Index of the last thinking block; -1 if there is none. */
  readonly lastThought: number;
  readonly #blocks: readonly Block[];
  readonly #hashes: BlockHashes;
  readonly #known: SentRecord;
  readonly #isClosed: boolean;
  #texts: Map<number, string> | undefined;

  /**
   * `isClosed` means that no further block may be modified, because sent texts are not remembered.
   */
  constructor(original: Original, hashes: BlockHashes, record: SentRecord, isClosed = false) {
    this.#blocks = original.blocks();
    this.lastThought = signsThoughts(original) ? this.#blocks.findLastIndex(isThought) : -1;
    this.isBound = this.lastThought >= 0 || isClosed;
    this.#hashes = hashes;
    this.#known = record;
    this.#isClosed = isClosed;
  }

  ruleOf(index: number): SendingRule {
    return this.ruleWith(index, this.writtenOf(index));
  }

  /** Returns the same as `ruleOf`, given `writtenOf` the block. */
  ruleWith(index: number, written: string | undefined): SendingRule {
    if (!this.isBound) return 'free';
    if (written !== undefined) return 'as-sent';
    if (index < this.lastThought && !this.#known.isTrusted) return 'raw';
    return this.#isClosed ? 'raw' : 'free';
  }

  /** Names an editable block by text, tool call and number of equal blocks before it. */
  keyOf(index: number): string | undefined {
    return this.#hashes.nameOf(index);
  }

  /** Returns the stored form of a block's sent text; undefined if there is none. */
  writtenOf(index: number): string | undefined {
    const { sent = NOTHING_SENT } = this.#known;
    if (sent.size === 0) return undefined;
    const key = this.keyOf(index);
    return key === undefined ? undefined : sent.get(key);
  }

  /** Returns true if `text` was sent for a block before; `written` is `writtenOf` the block. */
  wasSent(index: number, text: string, written: string | undefined): boolean {
    if (text === this.#blocks[index]!.text) return written === undefined || written === RAW;
    return written !== undefined && this.#hashes.isSent(index, written, text);
  }

  /** Returns the text that must be sent for a block; undefined if it is free. */
  fixedText(index: number): string | undefined {
    const stand = this.ruleOf(index);
    if (stand === 'free') return undefined;
    const { text } = this.#blocks[index]!;
    if (stand === 'raw') return text;
    this.#texts ??= new Map();
    let sent = this.#texts.get(index);
    if (sent === undefined) {
      sent = readSent(text, this.writtenOf(index)!) ?? text;
      this.#texts.set(index, sent);
    }
    return sent;
  }

  /** Returns true if `text` may be sent for a block; cheaper than `fixedText`. */
  allows(index: number, text: string): boolean {
    const written = this.writtenOf(index);
    return this.ruleWith(index, written) === 'free' || this.wasSent(index, text, written);
  }
}
