/**
 * Requests that must be forwarded byte for byte: the user asked for it, or a subscription may
 * depend on it.
 */
import type { BodyFrame } from '../../stages/model/body.ts';
import { headerSwitch, headerValue } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

/**
 * The token of a Claude subscription. Its provider may require the exact bytes of its own client.
 */
const SUBSCRIPTION = /^Bearer +sk-ant-oat/i;
/** Sent along with a ChatGPT login's token, which has no recognizable form (Codex 0.171). */
const CHATGPT_ACCOUNT = 'chatgpt-account-id';

/**
 * Returns why the request may not be edited, or undefined. `allowSubscription` is
 * `compression.subscription_traffic`.
 */
export function verbatimReason(
  headers: Headers,
  allowSubscription: boolean,
): BodyFrame['untouchable'] {
  if (headerSwitch(headers, 'x-svc-bypass') === true) return 'bypass';
  if (allowSubscription) return undefined;
  return isSubscription(headers) ? 'subscription' : undefined;
}

/** True if the credential belongs to a subscription plan rather than being an API key. */
export function isSubscription(headers: Headers): boolean {
  const authorization = headerValue(headers, 'authorization') ?? '';
  return SUBSCRIPTION.test(authorization) || headerValue(headers, CHATGPT_ACCOUNT) !== undefined;
}
