/**
 * An error answer whose words decide what happens next: whether the account behind the key is the
 * reason. What was read of it is given back, so that it can be passed on as it came.
 */
import { Source } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { headerValue } from '../model/headers.ts';
import { accountTrouble } from '../providers/account.ts';
import type { AccountTrouble } from '../providers/account.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import { decodeBody } from '../wire/decode.ts';

/** Errors are short; what is longer is passed on unread. */
const MAX_ERROR_BYTES = 64 * 1024;
/** How long the next key waits for words that may never come. */
const MAX_ERROR_MS = 2_000;

/** An error answer with all of its body still to be read, and what it says of the account. */
export interface ErrorWords {
  readonly response: UpstreamResponse;
  readonly trouble: AccountTrouble | undefined;
}

/**
 * Reads the words of `response`. Where `isDispensable` nobody needs its body for certain, and one that
 * does not come in time is given up. Rejects where it breaks off otherwise.
 */
export async function errorWords(
  response: UpstreamResponse,
  isDispensable: boolean,
  clock: Clock,
): Promise<ErrorWords> {
  const { body, status, headers } = response;
  const giveUp = (): void => body.cancel(new Error('its words take too long'));
  const stopTimer = isDispensable ? clock.after(MAX_ERROR_MS, giveUp) : undefined;
  const pieces: Buffer[] = [];
  let isWhole = false;
  try {
    isWhole = await readInto(pieces, body);
  } catch (thrown) {
    if (!isDispensable) throw thrown;
    return { response, trouble: accountTrouble(status, Buffer.alloc(0)) };
  } finally {
    stopTimer?.();
  }
  const again = isWhole ? Source.of(pieces) : body.prepend(pieces);
  const encoding = headerValue(headers, 'content-encoding');
  const words = await decodeBody(Buffer.concat(pieces), encoding, MAX_ERROR_BYTES).catch(() =>
    Buffer.alloc(0),
  );
  return { response: { ...response, body: again }, trouble: accountTrouble(status, words) };
}

/** Reads until the end, which it returns true for, or until it is too long. */
async function readInto(pieces: Buffer[], body: Source<Buffer>): Promise<boolean> {
  let sizeBytes = 0;
  while (sizeBytes <= MAX_ERROR_BYTES) {
    const piece = await body.read();
    if (piece === undefined) return true;
    pieces.push(piece);
    sizeBytes += piece.length;
  }
  return false;
}
