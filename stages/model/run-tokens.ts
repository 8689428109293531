/** Ids that an answer of ours needs and the provider did not give. */
import { createHash } from 'node:crypto';

const TOKEN_CHARS = 24;

/**
 * Makes ids of 24 hexadecimal digits, each another one. They follow from the run's own id, which
 * no other run has: when a run is replayed, they are the same again.
 */
export function createTokens(runId: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    const hash = createHash('sha256').update(`${runId} ${count}`);
    return hash.digest('hex').slice(0, TOKEN_CHARS);
  };
}
