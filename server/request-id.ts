/** Ids of requests: unguessable, and cheap because random bytes are fetched many at a time. */
const POOL_BYTES = 12 * 256;
const ID_BYTES = 12;

/** Makes ids such as `req_4f…`, 96 random bits each, matching `^[A-Za-z0-9_-]{1,64}$`. */
export function createRequestIds(randomBytes: (size: number) => Buffer): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (at >= pool.length) {
      pool = randomBytes(POOL_BYTES);
      at = 0;
    }
    at += ID_BYTES;
    return `req_${pool.toString('base64url', at - ID_BYTES, at)}`;
  };
}
