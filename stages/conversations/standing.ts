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
import type { ConversationRecord } from './record.ts';
import { RAW, isSent, readSent, textHash } from './sent-text.ts';

export type Standing = ReturnType<typeof standingOf>;

/** How one block stands. */
export type Stand = 'as-sent' | 'raw' | 'free';

/** What is looked up of a record; `isTrusted`: what is not written down would be computed as it was sent. */
export interface Known {
  readonly sent: ConversationRecord['sent'];
  readonly isTrusted: boolean;
}

/** Which of the blocks a stage may change, or add to. */
export function isEditable({ kind, role, path }: Block): boolean {
  return path !== undefined && (kind === 'tool_result' || (role === 'user' && kind === 'text'));
}

/** True where a block of the model holds a thought. */
export function isThought({ kind, role }: Block): boolean {
  return kind === 'thinking' && role === 'assistant';
}

const NOTHING_SENT: ReadonlyMap<string, string> = new Map();

/**
 * Of a request as it came in. What is read of it is read once, at the first question. `isClosed`: nothing of it
 * may be changed any more, since what is sent is not remembered.
 */
export function standingOf(original: Original, known: () => Known, isClosed = false) {
  const blocks = original.blocks();
  const lastThought = blocks.findLastIndex(isThought);
  const isBound = lastThought >= 0 || isClosed;
  let keys: readonly (string | undefined)[] | undefined;
  let found: Known | undefined;
  const texts = new Map<number, string>();
  const knownOf = (): Known => (found ??= known());
  const keyOf = (index: number): string | undefined => (keys ??= keysOf(blocks))[index];
  const writtenOf = (index: number): string | undefined => {
    const { sent = NOTHING_SENT } = knownOf();
    if (sent.size === 0) return undefined;
    const key = keyOf(index);
    return key === undefined ? undefined : sent.get(key);
  };
  const standOf = (index: number): Stand => {
    if (!isBound) return 'free';
    if (writtenOf(index) !== undefined) return 'as-sent';
    if (index < lastThought && !knownOf().isTrusted) return 'raw';
    return isClosed ? 'raw' : 'free';
  };
  return {
    /** True where thoughts are signed over what stands before them, or one will be and what is sent is not remembered. */
    isBound,
    /** The index of the last block with a thought; -1 without one. */
    lastThought,
    standOf,
    /** Names an editable block by its text, its call, and how many equal ones came before it. */
    keyOf,
    /** What is written down of a block; undefined for nothing. */
    writtenOf,
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
      const isChanged = text !== blocks[index]!.text;
      const written = stand === 'raw' ? RAW : writtenOf(index)!;
      return isChanged ? isSent(written, text) : written === RAW;
    },
  };
}

/** The name of each editable block. */
function keysOf(blocks: readonly Block[]): readonly (string | undefined)[] {
  const times = new Map<string, number>();
  return blocks.map((block) => {
    if (!isEditable(block)) return undefined;
    const name = textHash(`${block.toolUseId ?? ''}\0${block.text}`);
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    return before === 0 ? name : `${name}.${before}`;
  });
}
