/**
 * When a proxy would leave old results out of a recorded conversation: after a pause longer than
 * the setting and, as far as the file shows, longer than the lifetime of the provider's cache.
 */
import { CACHE_LIFETIMES_MS } from '../../stages/model/model-facts.ts';
import { cacheLifetimeMs } from '../../stages/prompt-cache/lifetime.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import { providerOf } from './input-cost.ts';

/** Returns the requests after such a pause. A request without a known time is not one. */
export function coldMoments(
  conversation: Conversation,
  coldTrimMs: number,
): ReadonlySet<SessionRequest> {
  const cold = new Set<SessionRequest>();
  let newestMs = Infinity;
  let lifetimeMs = shownLifetimeMs(conversation);
  for (const request of conversation.requests) {
    const { atMs, usage } = request;
    // The files do not show cache markers, but one-hour cache writes are counted separately.
    if ((usage?.cacheWrite1hTokens ?? 0) > 0)
      lifetimeMs = Math.max(lifetimeMs, CACHE_LIFETIMES_MS['1h']);
    if (atMs === null) continue;
    if (atMs - newestMs > Math.max(coldTrimMs, lifetimeMs)) cold.add(request);
    newestMs = newestMs === Infinity ? atMs : Math.max(newestMs, atMs);
  }
  return cold;
}

/** OpenCode records conversations of all vendors in one format. */
function shownLifetimeMs(conversation: Conversation): number {
  const { dialect, params } = conversation;
  return cacheLifetimeMs(
    providerOf(conversation).kind === 'messages' ? 'messages' : dialect,
    params,
  );
}
