/**
 * Makes the provider cache the repeated part of a conversation if the client does not request it:
 * markers for a provider of the messages dialect, a key for one that routes by it. A conversation's
 * first request is sent unchanged: most of them are the only one, and writing the cache costs more
 * than plain input.
 */
import { isObject } from '../../dialect/json-kind.ts';
import type { JsonObject } from '../../dialect/json-kind.ts';
import { isRewritable, modelOf, setMarkers, setParam, withReport } from '../../model/request.ts';
import type { JsonPath } from '../../model/block.ts';
import type { Turn } from '../../model/conversation.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { LARGEST_MINIMUM, factsOf } from '../../model/model-facts.ts';
import { takesPromptCacheKey } from '../../prompt-cache/cache-key.ts';
import { someMarker } from '../../prompt-cache/markers.ts';
import { breakpointsIn, withMarkers } from '../../prompt-cache/breakpoints.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Services } from '../../services.ts';
import type { ForwardConfig } from '../config.ts';

interface CachingOptions {
  readonly provider: Provider;
  readonly config: ForwardConfig;
  readonly services: Services;
}

/** What is added to a body, or why nothing is. */
export type Caching =
  | { readonly breakpoints: readonly JsonPath[] }
  | { readonly key: string }
  | { readonly notBecause: string };

const CACHE_KEY = 'prompt_cache_key';

/**
 * Returns the request for a provider of its own dialect. `caching` is undefined if caching does not
 * apply.
 */
export function withCaching(
  request: ProxyRequest,
  options: CachingOptions,
): { readonly request: ProxyRequest; readonly caching: Caching | undefined } {
  const { json } = request.original;
  if (!isObject(json)) return { request, caching: undefined };
  const caching = cachingFor(request, json, modelOf(request), options);
  if (caching === undefined || 'notBecause' in caching) return { request, caching };
  if ('key' in caching) return { request: setParam(request, CACHE_KEY, caching.key), caching };
  const marked = setMarkers(request, caching.breakpoints);
  return { request: withReport(marked, { breakpoints: caching.breakpoints.length }), caching };
}

/** Does the same for a translated body of `request`, which names `model`. */
export function withCachingIn(
  body: JsonObject,
  request: ProxyRequest,
  model: string | undefined,
  options: CachingOptions,
): ReturnType<typeof withCaching> & { readonly body: JsonObject } {
  const caching = cachingFor(request, body, model, options);
  if (caching === undefined || 'notBecause' in caching) return { body, request, caching };
  if ('key' in caching) return { body: { ...body, [CACHE_KEY]: caching.key }, request, caching };
  const marked = withMarkers(body, caching.breakpoints);
  const report = { breakpoints: caching.breakpoints.length };
  return { body: marked, request: withReport(request, report), caching };
}

function cachingFor(
  request: ProxyRequest,
  body: JsonObject,
  model: string | undefined,
  { config, services, provider }: CachingOptions,
): Caching | undefined {
  const { endpoint } = request.original;
  if (!config.setsBreakpoints || endpoint.operation !== 'generate') return undefined;
  if (!isRewritable(request)) return undefined;
  if (request.report.mode === 'strict') return { notBecause: 'the mode is strict' };
  if (provider.promptCache === 'off') return { notBecause: 'providers.<name>.prompt_cache is off' };
  const turn = (): Turn => services.conversations.turnOf(request);
  if (provider.kind === 'messages') return markersFor(body, provider, model, turn);
  return provider.kind === 'chat' ? keyFor(body, provider, turn) : undefined;
}

function markersFor(
  body: JsonObject,
  { promptCache }: Provider,
  model: string | undefined,
  turn: () => Turn,
): Caching {
  const facts = factsOf(model);
  const minTokens =
    (facts.isMarked ? facts.minCachedTokens : undefined) ??
    (promptCache === 'on' ? LARGEST_MINIMUM : undefined);
  if (minTokens === undefined)
    return { notBecause: 'the model is not known to cache what is marked' };
  if (someMarker(body, () => true)) return { notBecause: 'the client sets its own markers' };
  const { goesOn, isSlow } = turn();
  if (!goesOn) return { notBecause: 'it is the first request of its conversation' };
  if (isSlow) return { notBecause: 'the conversation pauses for longer than the cache lives' };
  const breakpoints = breakpointsIn(body, minTokens);
  if (breakpoints.length === 0)
    return { notBecause: `it has less than the ${minTokens} tokens that the model caches` };
  return { breakpoints };
}

function keyFor(
  body: JsonObject,
  { origin, promptCache }: Provider,
  turn: () => Turn,
): Caching | undefined {
  if (promptCache === 'auto' && !takesPromptCacheKey(origin)) return undefined;
  // The provider stores the conversation, and the request alone does not identify it.
  if ((body['previous_response_id'] ?? undefined) !== undefined) return undefined;
  if ((body[CACHE_KEY] ?? undefined) !== undefined)
    return { notBecause: 'the client sets its own key' };
  const { goesOn, conversation } = turn();
  if (!goesOn) return { notBecause: 'it is the first request of its conversation' };
  return { key: `svc-${conversation}` };
}
