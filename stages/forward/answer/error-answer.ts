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
import { MAX_ERROR_MS } from './error-body.ts';
import type { AttemptScope } from '../attempt-scope.ts';
import { toHead } from './head.ts';
import type { Prepared } from '../request/prepared.ts';

const MAX_ERROR_BYTES = 64 * 1024;

/** Reads the answer to its end; undefined if that fails, or if the client may not see it. */
export async function keepErrorAnswer(
  prepared: Prepared,
  response: UpstreamResponse,
  scope: AttemptScope,
): Promise<Answer<ProxyFrame> | undefined> {
  const { status, body } = response;
  const isTranslated = prepared.reading.how === 'translate';
  if (isTranslated && status >= 500) {
    body.cancel(new Error('another provider is asked'));
    return undefined;
  }
  const bytes = await readShort(response, prepared, scope);
  if (bytes === undefined) return undefined;
  const head = toHead(prepared, response, scope);
  if (prepared.reading.how === 'translate') {
    const { translatedError } = await import('./translated.ts');
    return translatedError(prepared, prepared.reading, head, bytes, scope);
  }
  return wholeOf(head, bytes);
}

async function readShort(
  { status, body }: UpstreamResponse,
  prepared: Prepared,
  scope: AttemptScope,
): Promise<Buffer | undefined> {
  if (isBodiless(status, prepared.request.original.body.method)) return Buffer.alloc(0);
  const giveUp = (): void => body.cancel(new Error('another provider is asked'));
  const stopTimer = scope.services.clock.after(MAX_ERROR_MS, giveUp);
  try {
    return await readWhole(body, MAX_ERROR_BYTES);
  } catch {
    // It broke off or took too long; the next provider's answer matters more.
    return undefined;
  } finally {
    stopTimer();
  }
}
