/**
 * Serialises the blocks of a stream. Some providers interleave the pieces of parallel tool calls;
 * every writer needs one block after the other. The first open block is passed on as it arrives;
 * pieces of the others are queued.
 */
import type { CanonicalEvent, OpeningBlock } from '../canonical.ts';

interface Waiting {
  readonly key: string;
  readonly opening: OpeningBlock;
  readonly pieces: string[];
  closed: boolean;
}

/** Keys identify blocks while they are open; text for an unknown key is dropped. */
export class BlockSerializer {
  readonly #queue: Waiting[] = [];

  /** Opens a block under a key that is not in use. */
  open(key: string, opening: OpeningBlock): CanonicalEvent[] {
    this.#queue.push({ key, opening, pieces: [], closed: false });
    return this.#queue.length === 1 ? [{ type: 'blockStart', block: opening }] : [];
  }

  /** Adds text to an open block; empty text is ignored. */
  delta(key: string, text: string): CanonicalEvent[] {
    const block = this.#find(key);
    if (block === undefined || text === '') return [];
    if (block === this.#queue[0]) return [{ type: 'delta', text }];
    block.pieces.push(text);
    return [];
  }

  close(key: string): CanonicalEvent[] {
    const block = this.#find(key);
    if (block === undefined) return [];
    block.closed = true;
    return this.#advance();
  }

  closeAll(): CanonicalEvent[] {
    for (const block of this.#queue) block.closed = true;
    return this.#advance();
  }

  isOpen(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  #find(key: string): Waiting | undefined {
    return this.#queue.find((block) => block.key === key && !block.closed);
  }

  /** Lets everything pass up to the first block that is still open. */
  #advance(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    while (this.#queue[0]?.closed === true) {
      events.push({ type: 'blockStop' });
      this.#queue.shift();
      const next = this.#queue[0];
      if (next === undefined) break;
      events.push({ type: 'blockStart', block: next.opening });
      for (const text of next.pieces.splice(0)) events.push({ type: 'delta', text });
    }
    return events;
  }
}
