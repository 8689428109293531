/**
 * Removes the key from an error in which a provider repeats it. A configured key is not the
 * client's, so the client must not see it; the rest of the error stays.
 */
import type { Clock } from '../../../engine/index.ts';
import type { ProviderKey } from '../../providers/provider.ts';
import { decodedResponse } from '../../providers/decoded-body.ts';
import { bodyOf } from '../../providers/response-body.ts';
import type { UpstreamResponse } from '../../providers/upstream.ts';
import { withoutHeaders } from '../../model/headers.ts';
import { secretPatterns } from '../../model/secret-forms.ts';
import { readErrorBody } from './error-body.ts';

/** A shorter one, such as `none` for a local server, is an ordinary word. */
const MIN_KEY_CHARS = 8;
const isLong = ({ length }: string): boolean => length >= MIN_KEY_CHARS;
const HIDDEN = '[redacted]';

/**
 * Returns `response` itself if it is not an error, or contains none of `keys` in any of their
 * forms.
 */
export async function withoutKeys(
  response: UpstreamResponse,
  keys: readonly ProviderKey[],
  clock: Clock,
): Promise<UpstreamResponse> {
  const secrets = keys.map(({ secret }) => secret).filter(isLong);
  if (response.status < 400 || secrets.length === 0) return response;
  const secretsPattern = new RegExp(secretPatterns(secrets).join('|'), 'g');
  const hide = (text: string): string => text.replace(secretsPattern, HIDDEN);
  const { body, isLate } = await readErrorBody(response, clock);
  const isClean = (value: string): boolean => hide(value) === value;
  // An error that does not end in time is searched as it arrives.
  if (!isLate && isClean(body.toString('latin1')) && response.headers.every(isClean))
    return response;
  const plain = decodedResponse(response);
  // The body was read whole, so it is one piece.
  const hiding = new TransformStream<Buffer, Buffer>({
    transform(piece, controller) {
      controller.enqueue(Buffer.from(hide(piece.toString('latin1')), 'latin1'));
    },
  });
  return {
    status: plain.status,
    headers: withoutHeaders(plain.headers, (name) => name === 'content-length').map(hide),
    body: bodyOf(plain.body.bytes().pipeThrough(hiding)),
  };
}
