/**
 * A provider's error answer, kept while another provider is tried: if none can answer, the client
 * gets it unchanged. Reading it must not delay the fallback, so one that is long or slow is
 * dropped.
 */
import type { Answer } from '../../../engine/index.ts';
import type { ProxyFrame } from '../../model/frame.ts';
import { readWhole } from '../../providers/upstream.ts';
import type { UpstreamResponse } from '../../providers/upstream.ts';
import { isBodiless, wholeOf } from './answer.ts';
import { MAX_ERROR_BYTES, withErrorTimeout } from './error-body.ts';
import type { AttemptScope } from '../attempt-scope.ts';
import { toHead } from './head.ts';
import type { Prepared } from '../request/prepared.ts';

/** Reads the answer to its end; undefined if that fails, or if the client may not see it. */
export async function keepErrorAnswer(
  prepared: Prepared,
  response: UpstreamResponse,
  scope: AttemptScope,
): Promise<Answer<ProxyFrame> | undefined> {
  const { status, body } = response;
  const { reading, request } = prepared;
  const giveUp = (): void => body.cancel(new Error('another provider is asked'));
  if (reading.how === 'translate' && status >= 500) {
    giveUp();
    return undefined;
  }
  let bytes: Buffer | undefined = Buffer.alloc(0);
  if (!isBodiless(status, request.original.body.method)) {
    bytes = await withErrorTimeout(scope.services.clock, (late) => {
      void late.then(giveUp);
      // If it breaks off or takes too long, the next provider's answer matters more.
      return readWhole(body, MAX_ERROR_BYTES).catch(() => undefined);
    });
  }
  if (bytes === undefined) return undefined;
  const head = toHead(prepared, response, scope);
  if (reading.how !== 'translate') return wholeOf(head, bytes);
  const { translatedError } = await import('./translated.ts');
  return translatedError(prepared, reading, head, bytes, scope);
}
