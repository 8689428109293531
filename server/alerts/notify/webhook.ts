/** One webhook delivery attempt: a signed POST, judged by the response status alone. */
import { createHmac } from 'node:crypto';
import { createCanceller, toSvcError } from '../../../engine/index.ts';
import type { CancelSignal, Clock } from '../../../engine/index.ts';
import { retryAfterMs } from '../../../stages/providers/retry-after.ts';
import type { Upstream } from '../../../stages/providers/upstream.ts';
import { noticeBody } from './notice.ts';
import type { Notice } from './notice.ts';
import type { WebhookTarget } from './targets.ts';

/** Timeout for the receiver's response. */
export const WEBHOOK_MS = 10_000;

/** Result of an attempt. The words name neither the address nor the key. */
export interface Delivery {
  readonly isDelivered: boolean;
  /** `200`, `status 500`, `no answer in 10 s`. */
  readonly description: string;
  /** Whether a retry may succeed. */
  readonly isWorthRetrying: boolean;
  /** The receiver's `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
}

export interface WebhookOptions {
  readonly upstream: Pick<Upstream, 'send'>;
  readonly clock: Clock;
  readonly version: string;
  readonly signal?: CancelSignal;
}

/**
 * Sends `notice` once. Redirects are not followed: an address that leads elsewhere should be
 * corrected, and must not send the signed message to a server that no one configured. The response
 * body is not read. Never rejects.
 */
export async function sendWebhook(
  target: WebhookTarget,
  notice: Notice,
  { upstream, clock, version, signal = createCanceller().signal }: WebhookOptions,
): Promise<Delivery> {
  const url = new URL(target.url);
  const body = noticeBody(notice, target.template);
  try {
    const {
      status,
      headers,
      body: answer,
    } = await upstream.send({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: [
        'Content-Type',
        'application/json',
        'User-Agent',
        `svc/${version}`,
        'X-Svc-Alert-Id',
        notice.id,
        ...authorization(url),
        ...signature(target, body, clock.wallMs()),
      ],
      body: Buffer.from(body),
      headTimeoutMs: WEBHOOK_MS,
      idleTimeoutMs: WEBHOOK_MS,
      signal,
    });
    answer.cancel(new Error('the status is enough'));
    if (status >= 200 && status < 300) return toDelivery(String(status));
    if (status >= 300 && status < 400)
      return failedDelivery(`a redirect (status ${status}), which is not followed`, false);
    const isWorthRetrying = status === 408 || status === 425 || status === 429 || status >= 500;
    const waitMs = retryAfterMs(headers, clock.wallMs());
    return { ...failedDelivery(`status ${status}`, isWorthRetrying), retryAfterMs: waitMs };
  } catch (thrown) {
    return failedDelivery(reasonOf(thrown), true);
  }
}

export function toDelivery(description: string): Delivery {
  return { isDelivered: true, description, isWorthRetrying: false };
}

export function failedDelivery(description: string, isWorthRetrying: boolean): Delivery {
  return { isDelivered: false, description, isWorthRetrying };
}

/** Returns the error code of the system or of TLS, since messages contain addresses. */
function reasonOf(thrown: unknown): string {
  const error = toSvcError(thrown);
  if (error.kind === 'gateway_timeout') return `no answer in ${WEBHOOK_MS / 1000} s`;
  for (let cause: unknown = thrown; cause instanceof Error; cause = cause.cause)
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(cause.code))
      if (!cause.code.startsWith('PROVIDER_')) return `it cannot be reached (${cause.code})`;
  return 'it cannot be reached';
}

/** User and password in the address are sent as Basic credentials. */
function authorization({ username, password }: URL): readonly string[] {
  if (username === '' && password === '') return [];
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return ['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`];
}

/**
 * Returns `t=SECONDS,v1=HEX`: an HMAC-SHA256 with the secret over the seconds since the epoch, a
 * dot and the body. The time is signed too, so that a receiver can refuse a replayed message.
 */
function signature({ secret }: WebhookTarget, body: string, nowMs: number): readonly string[] {
  if (secret === null) return [];
  const seconds = Math.floor(nowMs / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return ['X-Svc-Signature', `t=${seconds},v1=${mac}`];
}
