/** Ids that our answer needs and the provider did not supply. */
import { createHash } from 'node:crypto';

const TOKEN_CHARS = 24;

/**
 * Creates a generator of unique ids of 24 hexadecimal digits. They are derived from the run's own
 * unique id: a replayed run gets the same ids.
 */
export function createTokens(runId: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    const hash = createHash('sha256').update(`${runId} ${count}`);
    return hash.digest('hex').slice(0, TOKEN_CHARS);
  };
}
