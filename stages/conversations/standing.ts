/**
 * The one place that decides what may become of each block of a conversation with thoughts in it. A
 * thought is signed over everything before it, so that what stands before the last one goes out as
 * it did when that thought was made, whatever anybody has switched since:
 *
 * - `as-sent`: it went out before, and goes out so again;
 * - `raw`: it stands before the last thought and nothing is known of it: it goes out as it came;
 * - `free`: it is new, and may be made smaller.
 *
 * In a conversation without thoughts everything is free.
 */
import type { Block } from '../model/block.ts';
import type { Original } from '../model/request.ts';
import type { BlockHashes } from './block-hashes.ts';
import type { ConversationRecord } from './record.ts';
import { RAW, isSent, readSent } from './sent-text.ts';

export type Standing = ReturnType<typeof standingOf>;

/** How one block stands. */
export type Stand = 'as-sent' | 'raw' | 'free';

/** What is looked up of a record; `isTrusted`: what is not written down would be computed as it was sent. */
export interface Known {
  readonly sent: ConversationRecord['sent'];
  readonly isTrusted: boolean;
}

/** True where a block of the model holds a thought. */
export function isThought({ kind, role }: Block): boolean {
  return kind === 'thinking' && role === 'assistant';
}

/** The dialects whose providers sign thoughts over what stands before them; in others reasoning is text like any other. */
export function signsThoughts({ dialect }: Pick<Original, 'dialect'>): boolean {
  return dialect.name === 'messages' || dialect.name === 'responses';
}

const NOTHING_SENT: ReadonlyMap<string, string> = new Map();

/**
 * Of a request as it came in. What is read of it is read once, at the first question. `isClosed`: nothing of it
 * may be changed any more, since what is sent is not remembered.
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
  /** True if `text`, which is not the original, is what is written down of a block. It is compared once. */
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
    /** True where thoughts are signed over what stands before them, or one will be and what is sent is not remembered. */
    isBound,
    /** The index of the last block with a thought; -1 without one. */
    lastThought,
    standOf,
    /** Names an editable block by its text, its call, and how many equal ones came before it. */
    keyOf: nameOf,
    /** What is written down of a block; undefined for nothing. */
    writtenOf,
    isWritten,
    /** What must go out for a block; undefined for one that is free. */
    fixedText(index: number): string | undefined {
      const stand = standOf(index);
      if (stand === 'free') return undefined;
      const { text } = blocks[index]!;
      if (stand === 'raw') return text;
      let sent = texts.get(index);
      if (sent === undefined) texts.set(index, (sent = readSent(text, writtenOf(index)!) ?? text));
      return sent;
    },
    /** True if `text` may go out for a block; cheaper than to ask what must. */
    allows(index: number, text: string): boolean {
      const stand = standOf(index);
      if (stand === 'free') return true;
      if (text === blocks[index]!.text) return stand === 'raw' || writtenOf(index) === RAW;
      return stand === 'as-sent' && isWritten(index, text);
    },
  };
}
