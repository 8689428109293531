/** Marks that identify the last block of a turn. */
import { createHash } from 'node:crypto';

/** Number of characters hashed at either end of a turn's last block. */
const MARK_CHARS = 512;

/** Returns a mark made of a block's index and the hash of its text. */
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

/**
 * Like `blockMark`, but without hashing all of a long block. Used only to record how far a
 * conversation was sent.
 */
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
