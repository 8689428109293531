/** Requests that must go out byte for byte: the user asked for it, or a subscription may depend on it. */
import type { BodyFrame } from '../../stages/model/body.ts';
import { headerSwitch, headerValue } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

/** The token of a Claude subscription. Its provider may tie the traffic to the exact bytes of its own client. */
const SUBSCRIPTION = /^Bearer +sk-ant-oat/i;
/** Sent beside a ChatGPT login's token, which has no form of its own (Codex 0.171). */
const CHATGPT_ACCOUNT = 'chatgpt-account-id';

/** Why the request may not be edited, or undefined. `allowSubscription` is `compression.subscription_traffic`. */
export function untouchableBecause(
  headers: Headers,
  allowSubscription: boolean,
): BodyFrame['untouchable'] {
  if (headerSwitch(headers, 'x-svc-bypass') === true) return 'bypass';
  if (allowSubscription) return undefined;
  return isSubscription(headers) ? 'subscription' : undefined;
}

/** True where the credential is that of a plan and not a key. */
export function isSubscription(headers: Headers): boolean {
  const authorization = headerValue(headers, 'authorization') ?? '';
  return SUBSCRIPTION.test(authorization) || headerValue(headers, CHATGPT_ACCOUNT) !== undefined;
}
