/** Requests that must go out byte for byte: the user asked for it, or a subscription may depend on it. */
import type { BodyFrame } from '../../stages/model/body.ts';
import { headerSwitch, headerValue } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

/** A subscription's token. Its provider may tie the traffic to the exact bytes of its own client. */
const SUBSCRIPTION = /^Bearer +sk-ant-oat/i;

/** Why the request may not be edited, or undefined. `allowSubscription` is `compression.subscription_traffic`. */
export function untouchableBecause(
  headers: Headers,
  allowSubscription: boolean,
): BodyFrame['untouchable'] {
  if (headerSwitch(headers, 'x-svc-bypass') === true) return 'bypass';
  if (allowSubscription) return undefined;
  const authorization = headerValue(headers, 'authorization');
  return authorization !== undefined && SUBSCRIPTION.test(authorization)
    ? 'subscription'
    : undefined;
}
