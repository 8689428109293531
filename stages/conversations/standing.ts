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
import { RAW, isSent, readSent } from './sent-text.ts';

export type Standing = ReturnType<typeof standingOf>;

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

/**
 * Decides for the blocks of a request as received. `known` is called once, when first needed. `isClosed`: no
 * further block may be modified, since sent texts are not remembered.
 */
export function standingOf(
  original: Original,
  { nameOf }: Pick<BlockHashes, 'nameOf'>,
  known: () => Known,
  isClosed = false,
) {
  const blocks = original.blocks();
  const lastThought = signsThoughts(original) ? blocks.findLastIndex(isThought) : -1;
  const isBound = lastThought >= 0 || isClosed;
  let found: Known | undefined;
  const texts = new Map<number, string>();
  const compared = new Map<number, readonly [written: string, text: string, isSame: boolean]>();
  const knownOf = (): Known => (found ??= known());
  const writtenOf = (index: number): string | undefined => {
    const { sent = NOTHING_SENT } = knownOf();
    if (sent.size === 0) return undefined;
    const key = nameOf(index);
    return key === undefined ? undefined : sent.get(key);
  };
  const standOf = (index: number): Stand => {
    if (!isBound) return 'free';
    if (writtenOf(index) !== undefined) return 'as-sent';
    if (index < lastThought && !knownOf().isTrusted) return 'raw';
    return isClosed ? 'raw' : 'free';
  };
  /** Returns true if `text`, which is not the original, is the stored text of a block; the result is memoized. */
  const isWritten = (index: number, text: string): boolean => {
    const written = writtenOf(index);
    if (written === undefined) return false;
    const before = compared.get(index);
    if (before?.[0] === written && before[1] === text) return before[2];
    const isSame = isSent(written, text);
    compared.set(index, [written, text, isSame]);
    return isSame;
  };
  return {
    /** True if there are signed thinking blocks, or if `isClosed`. */
    isBound,
    /** Index of the last thinking block; -1 if there is none. */
    lastThought,
    standOf,
    /** Names an editable block by text, tool call and number of equal blocks before it. */
    keyOf: nameOf,
    /** The stored form of a block's sent text; undefined if there is none. */
    writtenOf,
    isWritten,
    /** Returns the text that must be sent for a block; undefined if it is free. */
    fixedText(index: number): string | undefined {
      const stand = standOf(index);
      if (stand === 'free') return undefined;
      const { text } = blocks[index]!;
      if (stand === 'raw') return text;
      let sent = texts.get(index);
      if (sent === undefined) texts.set(index, (sent = readSent(text, writtenOf(index)!) ?? text));
      return sent;
    },
    /** Returns true if `text` may be sent for a block; cheaper than `fixedText`. */
    allows(index: number, text: string): boolean {
      const stand = standOf(index);
      if (stand === 'free') return true;
      if (text === blocks[index]!.text) return stand === 'raw' || writtenOf(index) === RAW;
      return stand === 'as-sent' && isWritten(index, text);
    },
  };
}
