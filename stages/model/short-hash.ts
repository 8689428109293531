/** What tells texts apart, in 96 bits: 16 characters that no other text has. */
import { createHash, hash as hashOnce } from 'node:crypto';
import type { Hash } from 'node:crypto';

/** Above this, joining the parts costs more than a hash object does. */
const MAX_JOINED_CHARS = 16 * 1024;
const HASH_CHARS = 16;

/** The beginning of the SHA-256 of all parts together, in base 64. */
export function shortHash(parts: readonly string[]): string {
  let chars = 0;
  for (const part of parts) chars += part.length;
  if (chars <= MAX_JOINED_CHARS)
    return hashOnce('sha256', parts.join(''), 'base64url').slice(0, HASH_CHARS);
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return shortDigest(hash);
}

/** The same of a SHA-256 that was fed piece by piece; it cannot be fed any more. */
export function shortDigest(hash: Hash): string {
  return hash.digest('base64url').slice(0, HASH_CHARS);
}
