/**
 * Lines that a tool returned and the model later repeated, and whether they were readable in the
 * request that was sent.
 */
import { decodedText } from '../../stages/compress/decode/kept-lines.ts';
import { isThought } from '../../stages/conversations/sending-rules.ts';
import type { Block } from '../../stages/model/block.ts';
import type { SentBlock } from '../estimate/replay-conversation.ts';
import { normalizedLines, isSameJson, writtenLines } from './lines.ts';

/**
 * Finds the lines of a model's item that a tool had returned before, each with the block that
 * contained it.
 */
export function createQuotes(blocks: readonly Block[]) {
  const returned = new Map<string, Block>();
  const written = new Map<number, Map<string, Block>>();
  for (const block of blocks) {
    if (block.kind === 'tool_result')
      for (const line of normalizedLines(block.text))
        if (!returned.has(line)) returned.set(line, block);
    if (block.role !== 'assistant' || isThought(block)) continue;
    for (const line of writtenLines(block)) {
      const source = returned.get(line);
      if (source === undefined || source.message >= block.message) continue;
      const lines = written.get(block.message) ?? new Map<string, Block>();
      written.set(block.message, lines.set(line, source));
    }
  }
  return {
    of: (item: number) =>
      [...(written.get(item) ?? [])].map(([line, { index }]) => ({ line, block: index })),
  };
}

/** Indexes the lines readable in the sent blocks, by the first item at which each is. */
export function createReadable(sent: readonly SentBlock[], blocks: readonly Block[]) {
  const first = new Map<string, number>();
  const texts: (readonly [item: number, text: string])[] = [];
  const add = (line: string, item: number): void => {
    first.set(line, Math.min(first.get(line) ?? item, item));
  };
  for (const { index, item, text, sent: out } of sent) {
    const block = blocks[index]!;
    const isWritten = block.role === 'assistant' && !isThought(block);
    if (isWritten) for (const line of writtenLines(block)) add(line, item);
    const decoded = out === text ? text : decodedText(out);
    const read = out !== text && isSameJson(text, decoded) ? text : decoded;
    for (const line of normalizedLines(read)) add(line, item);
    texts.push([item, read]);
  }
  return {
    /** True if a response at `item` could have been written from the line. */
    has: (line: string, item: number): boolean =>
      (first.get(line) ?? Infinity) < item ||
      texts.some(([at, text]) => at < item && text.includes(line)),
  };
}
