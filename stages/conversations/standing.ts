/**
 * The one place that decides how each block of a conversation with thinking blocks may be sent. A
 * thinking block is signed over everything before it. So whatever precedes the last one is sent as it
 * was when the signature was made, regardless of settings changed since:
 *
 * - `as-sent`: its sent text is stored and is repeated;
 * - `raw`: it precedes the last thinking block and nothing is stored about it: it is sent unmodified;
 * - `free`: it is new and may be compressed.
 *
 * In a conversation without thinking blocks everything is free.
 */
import type { Block } from '../model/block.ts';
import type { Original } from '../model/request.ts';
import type { BlockHashes } from './block-hashes.ts';
import type { ConversationRecord } from './record.ts';
import { RAW, readSent } from './sent-text.ts';

/** How one block may be sent. */
export type Stand = 'as-sent' | 'raw' | 'free';

/** What is needed of a record; `isTrusted`: recomputing a block without an entry gives what was sent. */
export interface Known {
  readonly sent: ConversationRecord['sent'];
  readonly isTrusted: boolean;
}

/** Returns true for a thinking block of the model. */
export function isThought({ kind, role }: Block): boolean {
  return kind === 'thinking' && role === 'assistant';
}

/** Returns true if the dialect's providers sign thinking blocks over what precedes them; else reasoning is text. */
export function signsThoughts({ dialect }: Pick<Original, 'dialect'>): boolean {
  return dialect.name === 'messages' || dialect.name === 'responses';
}

const NOTHING_SENT: ReadonlyMap<string, string> = new Map();

/** Of a request as it came in. What is read of it is read once, at the first question. */
export class Standing {
  /** True where thoughts are signed over what stands before them, or one will be and what is sent is not remembered. */
  readonly isBound: boolean;
  /** The index of the last block with a thought; -1 without one. */
  readonly lastThought: number;
  readonly #blocks: readonly Block[];
  readonly #hashes: BlockHashes;
  readonly #known: Known;
  readonly #isClosed: boolean;
  #texts: Map<number, string> | undefined;

  /** `isClosed`: nothing of it may be changed any more, since what is sent is not remembered. */
  constructor(original: Original, hashes: BlockHashes, known: Known, isClosed = false) {
    this.#blocks = original.blocks();
    this.lastThought = signsThoughts(original) ? this.#blocks.findLastIndex(isThought) : -1;
    this.isBound = this.lastThought >= 0 || isClosed;
    this.#hashes = hashes;
    this.#known = known;
    this.#isClosed = isClosed;
  }

  standOf(index: number): Stand {
    if (!this.isBound) return 'free';
    if (this.writtenOf(index) !== undefined) return 'as-sent';
    if (index < this.lastThought && !this.#known.isTrusted) return 'raw';
    return this.#isClosed ? 'raw' : 'free';
  }

  /** Names an editable block by its text, its call, and how many equal ones came before it. */
  keyOf(index: number): string | undefined {
    return this.#hashes.nameOf(index);
  }

  /** What is written down of a block; undefined for nothing. */
  writtenOf(index: number): string | undefined {
    const { sent = NOTHING_SENT } = this.#known;
    if (sent.size === 0) return undefined;
    const key = this.keyOf(index);
    return key === undefined ? undefined : sent.get(key);
  }

  /** True if `text`, which is not the original, is what is written down of a block. */
  isWritten(index: number, text: string): boolean {
    const written = this.writtenOf(index);
    return written !== undefined && this.#hashes.isSent(index, written, text);
  }

  /** What must go out for a block; undefined for one that is free. */
  fixedText(index: number): string | undefined {
    const stand = this.standOf(index);
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

  /** True if `text` may go out for a block; cheaper than to ask what must. */
  allows(index: number, text: string): boolean {
    if (!this.isBound) return true;
    const isOriginal = text === this.#blocks[index]!.text;
    const written = this.writtenOf(index);
    if (written === undefined) return isOriginal || this.standOf(index) === 'free';
    return isOriginal ? written === RAW : this.#hashes.isSent(index, written, text);
  }
}
