/**
 * Puts the blocks of a stream in a row. Some providers interleave the pieces of
 * parallel tool calls; every writer wants one block after the other. The first
 * open block goes through at once, pieces of others wait for their turn.
 */
import type { CanonicalEvent, OpeningBlock } from './canonical.ts';

interface Waiting {
  readonly key: string;
  readonly opening: OpeningBlock;
  readonly pieces: string[];
  closed: boolean;
}

export interface BlockSerializer {
  /** Opens a block under a key that is not in use. */
  open(key: string, opening: OpeningBlock): CanonicalEvent[];
  /** Adds text to an open block; empty text says nothing. Unknown keys are ignored. */
  delta(key: string, text: string): CanonicalEvent[];
  close(key: string): CanonicalEvent[];
  closeAll(): CanonicalEvent[];
  isOpen(key: string): boolean;
}

export function createBlockSerializer(): BlockSerializer {
  const line: Waiting[] = [];
  const find = (key: string) => line.find((block) => block.key === key && !block.closed);

  /** Lets everything pass that stands before the first block which is still open. */
  const advance = (): CanonicalEvent[] => {
    const events: CanonicalEvent[] = [];
    while (line[0]?.closed === true) {
      events.push({ type: 'blockStop' });
      line.shift();
      const next = line[0];
      if (next === undefined) break;
      events.push({ type: 'blockStart', block: next.opening });
      for (const text of next.pieces.splice(0)) events.push({ type: 'delta', text });
    }
    return events;
  };

  return {
    open(key, opening) {
      line.push({ key, opening, pieces: [], closed: false });
      return line.length === 1 ? [{ type: 'blockStart', block: opening }] : [];
    },
    delta(key, text) {
      const block = find(key);
      if (block === undefined || text === '') return [];
      if (block === line[0]) return [{ type: 'delta', text }];
      block.pieces.push(text);
      return [];
    },
    close(key) {
      const block = find(key);
      if (block === undefined) return [];
      block.closed = true;
      return advance();
    },
    closeAll() {
      for (const block of line) block.closed = true;
      return advance();
    },
    isOpen: (key) => find(key) !== undefined,
  };
}
