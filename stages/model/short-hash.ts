/** Hashes that distinguish texts: 96 bits in 16 characters. */
import { createHash, hash as hashOnce } from 'node:crypto';

/** From this length on, joining the parts costs more than a hash object does. */
const MAX_JOINED_CHARS = 16 * 1024;
const HASH_CHARS = 16;

/** Returns the beginning of the SHA-256 of all parts together, in base 64. */
export function shortHash(parts: readonly string[]): string {
  let chars = 0;
  for (const part of parts) chars += part.length;
  if (chars <= MAX_JOINED_CHARS)
    return hashOnce('sha256', parts.join(''), 'base64url').slice(0, HASH_CHARS);
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url').slice(0, HASH_CHARS);
}
