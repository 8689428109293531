/**
 * When a proxy would leave old results out of a conversation in a session file: where it paused for
 * longer than the setting, and than the provider's cache of it lives as far as the file shows.
 */
import { CACHE_LIFETIMES_MS } from '../../stages/model/model-facts.ts';
import { cacheLifetimeMs } from '../../stages/prompt-cache/lifetime.ts';
import type { Conversation, SessionRequest } from '../sessions/session.ts';
import { providerOf } from './worth.ts';

/** The requests that come behind such a pause. One of which no time is known does not. */
export function coldMoments(
  conversation: Conversation,
  coldTrimMs: number,
): ReadonlySet<SessionRequest> {
  const cold = new Set<SessionRequest>();
  let newestMs = Infinity;
  let lifetimeMs = shownLifetimeMs(conversation);
  for (const request of conversation.requests) {
    const { atMs, usage } = request;
    // Markers do not stand in the files, but what they wrote for an hour was counted apart.
    if ((usage?.cacheWrite1hTokens ?? 0) > 0)
      lifetimeMs = Math.max(lifetimeMs, CACHE_LIFETIMES_MS['1h']);
    if (atMs === null) continue;
    if (atMs - newestMs > Math.max(coldTrimMs, lifetimeMs)) cold.add(request);
    newestMs = newestMs === Infinity ? atMs : Math.max(newestMs, atMs);
  }
  return cold;
}

/** OpenCode writes down every vendor's conversations in one form. */
function shownLifetimeMs(conversation: Conversation): number {
  const { dialect, params } = conversation;
  return cacheLifetimeMs(
    providerOf(conversation).kind === 'messages' ? 'messages' : dialect,
    params,
  );
}
