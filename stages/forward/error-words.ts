/**
 * An error answer whose words decide what happens next: whether the account behind the key is the
 * reason. Nothing of it is taken, so that it can be passed on as it came.
 */
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
const NOTHING = Buffer.alloc(0);

/**
 * What `response` says of the account; nothing of its body is taken. Where `isDispensable` nobody needs
 * the body for certain, and one that does not come in time is given up. Rejects where it breaks off otherwise.
 */
export async function troubleIn(
  { body, status, headers }: UpstreamResponse,
  isDispensable: boolean,
  clock: Clock,
): Promise<AccountTrouble | undefined> {
  const giveUp = (): void => body.cancel(new Error('its words take too long'));
  const stopTimer = isDispensable ? clock.after(MAX_ERROR_MS, giveUp) : undefined;
  const { bytes, error } = await body.beginning(MAX_ERROR_BYTES);
  stopTimer?.();
  if (error !== undefined && !isDispensable) throw error;
  const encoding = headerValue(headers, 'content-encoding');
  const words =
    error === undefined
      ? await decodeBody(bytes, encoding, MAX_ERROR_BYTES).catch(() => NOTHING)
      : NOTHING;
  return accountTrouble(status, words);
}
