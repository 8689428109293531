/** Ids of requests: unguessable, in the order of their time, and cheap because random bytes are fetched many at a time. */
const POOL_BYTES = 12 * 256;
const ID_BYTES = 12;
/** Digits of the time, which suffice until the year 2059: as text, ids then sort as their times do. */
const TIME_DIGITS = 8;

export interface RequestIdSources {
  /** Milliseconds since the epoch. */
  readonly wallMs: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/**
 * Makes ids such as `req_mh8s0k2a4f…`: the time in base 36 and 96 random bits, matching
 * `^[A-Za-z0-9_-]{1,64}$`. The ledger's rows are found by their ids; where those of one moment
 * lie side by side, a batch touches a few pages of the file instead of one a row.
 */
export function createRequestIds({ wallMs, randomBytes }: RequestIdSources): () => string {
  let pool: Buffer = Buffer.alloc(0);
  let at = 0;
  let timeMs = Number.NaN;
  let time = '';
  return () => {
    if (at >= pool.length) {
      pool = randomBytes(POOL_BYTES);
      at = 0;
    }
    at += ID_BYTES;
    const nowMs = Math.floor(wallMs());
    // Under load several come in a millisecond, and base 36 costs more than all the rest.
    if (nowMs !== timeMs) time = nowMs.toString(36).padStart(TIME_DIGITS, '0');
    timeMs = nowMs;
    return `req_${time}${pool.toString('base64url', at - ID_BYTES, at)}`;
  };
}
