/**
 * Request ids: unguessable, sortable by time, and cheap because random bytes are fetched many at a
 * time.
 */
const POOL_BYTES = 12 * 256;
const PREFIX = 'req_';
/**
 * Digits of the time, enough until the year 2059; of fixed width, so that ids sort as text by time.
 */
const TIME_DIGITS = 8;
/** Digits in base 64, of nearly 6 bits each. */
const RANDOM_DIGITS = 16;
const RANDOM_AT = PREFIX.length + TIME_DIGITS;
const ID_CHARS = RANDOM_AT + RANDOM_DIGITS;

export interface RequestIdInputs {
  /** Milliseconds since the epoch. */
  readonly wallMs: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

/**
 * Creates a generator of ids such as `req_mh8s0k2a4f…`: the time in base 36 and more than 95 random
 * bits, matching `^[A-Za-z0-9_-]{1,64}$`. Ledger rows are indexed by id; ids of the same moment are
 * neighbours, so a batch touches a few pages of the file instead of one per row.
 */
export function createRequestIds({ wallMs, randomBytes }: RequestIdInputs): () => string {
  /** Random digits for the next ids. */
  let pool: Buffer = Buffer.alloc(0);
  let at = 0;
  let timeMs = Number.NaN;
  // Written into a buffer: ids are kept with their requests, and a concatenated string would keep
  // each of its parts.
  const id = Buffer.from(PREFIX.padEnd(ID_CHARS), 'latin1');
  return () => {
    if (at >= pool.length) {
      // Letters and digits only: people type the end of an id on a command line, where a dash
      // begins an option, and select it with a double click.
      const digits = randomBytes(POOL_BYTES).toString('base64');
      pool = Buffer.from(digits.replaceAll('+', 'a').replaceAll('/', 'b'), 'latin1');
      at = 0;
    }
    const nowMs = Math.floor(wallMs());
    // Under load several ids are made per millisecond, and base 36 costs more than everything else.
    if (nowMs !== timeMs) {
      id.write(nowMs.toString(36).padStart(TIME_DIGITS, '0'), PREFIX.length, TIME_DIGITS);
      timeMs = nowMs;
    }
    pool.copy(id, RANDOM_AT, at, at + RANDOM_DIGITS);
    at += RANDOM_DIGITS;
    return id.toString('latin1');
  };
}
