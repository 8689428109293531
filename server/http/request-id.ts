/** Ids of requests: unguessable, in the order of their time, and cheap because random bytes are fetched many at a time. */
const POOL_BYTES = 12 * 256;
const PREFIX = 'req_';
/** Digits of the time, which suffice until the year 2059: as text, ids then sort as their times do. */
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
 * Makes ids such as `req_mh8s0k2a4f…`: the time in base 36 and more than 95 random bits, matching
 * `^[A-Za-z0-9_-]{1,64}$`. The ledger's rows are found by their ids; where those of one moment
 * lie side by side, a batch touches a few pages of the file instead of one a row.
 */
export function createRequestIds({ wallMs, randomBytes }: RequestIdInputs): () => string {
  /** Random digits for the next ids. */
  let pool: Buffer = Buffer.alloc(0);
  let at = 0;
  let timeMs = Number.NaN;
  // Put together as bytes: ids are kept with their requests, and a string made of parts keeps each.
  const id = Buffer.from(PREFIX.padEnd(ID_CHARS), 'latin1');
  return () => {
    if (at >= pool.length) {
      // Letters and digits alone: the end of an id is typed on a command line, where a dash begins
      // an option, and is selected by a double click.
      const digits = randomBytes(POOL_BYTES).toString('base64');
      pool = Buffer.from(digits.replaceAll('+', 'a').replaceAll('/', 'b'), 'latin1');
      at = 0;
    }
    const nowMs = Math.floor(wallMs());
    // Under load several come in a millisecond, and base 36 costs more than all the rest.
    if (nowMs !== timeMs) {
      id.write(nowMs.toString(36).padStart(TIME_DIGITS, '0'), PREFIX.length, TIME_DIGITS);
      timeMs = nowMs;
    }
    pool.copy(id, RANDOM_AT, at, at + RANDOM_DIGITS);
    at += RANDOM_DIGITS;
    return id.toString('latin1');
  };
}
