/** Tells the end of one turn from that of another. */
import { createHash } from 'node:crypto';

/** Characters at either end of a block by which it is known as the last one of a turn. */
const MARK_CHARS = 512;

/** Names a block by its place and its text. */
export function blockMark({
  index,
  text,
}: {
  readonly index: number;
  readonly text: string;
}): string {
  const digest = createHash('sha256').update(text).digest('base64url');
  return `${index}:${digest.slice(0, 16)}`;
}

/** The same without reading all of a long block. It tells how far a conversation was sent, not what becomes of it. */
export function endMark({
  index,
  text,
}: {
  readonly index: number;
  readonly text: string;
}): string {
  const ends = text.slice(0, MARK_CHARS) + text.slice(-MARK_CHARS);
  return `${text.length}:${blockMark({ index, text: ends })}`;
}
