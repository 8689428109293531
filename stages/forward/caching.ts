/**
 * Lets the provider cache what a conversation repeats, where the client does not ask for it:
 * markers for a provider of the messages dialect, a key for one that routes by it. A conversation's
 * first request goes out as it is: most of them are the only one, and writing the cache costs more
 * than plain input.
 */
import { isObject } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import { isRewritable, modelOf, setMarkers, setParam, withReport } from '../model/request.ts';
import type { JsonPath } from '../model/block.ts';
import type { ProxyRequest } from '../model/request.ts';
import {
  LARGEST_MINIMUM,
  leastCachedTokens,
  takesPromptCacheKey,
} from '../prompt-cache/known-models.ts';
import { someMarker } from '../prompt-cache/markers.ts';
import { breakpointsIn, withMarkers } from '../prompt-cache/breakpoints.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';
import type { ForwardConfig } from './config.ts';

interface CachingOptions {
  readonly config: ForwardConfig;
  readonly services: Services;
}

/** What was set, for the trace; or why nothing was. */
export type Caching =
  | { readonly markers: readonly string[] }
  | { readonly key: string }
  | { readonly notBecause: string };

/** What a body gets. */
type Wish =
  | { readonly breakpoints: readonly JsonPath[] }
  | { readonly key: string }
  | { readonly notBecause: string };

const CACHE_KEY = 'prompt_cache_key';

/** The request as it goes to a provider of its own dialect. `caching` is undefined where there is no question of any. */
export function withCaching(
  request: ProxyRequest,
  provider: Provider,
  options: CachingOptions,
): { readonly request: ProxyRequest; readonly caching: Caching | undefined } {
  const { json } = request.original;
  const model = modelOf(request);
  const wish = isObject(json) ? wishFor(request, provider, json, model, options) : undefined;
  if (wish === undefined) return { request, caching: undefined };
  const caching = toCaching(wish);
  if ('notBecause' in wish) return { request, caching };
  if ('key' in wish) return { request: setParam(request, CACHE_KEY, wish.key), caching };
  const marked = setMarkers(request, wish.breakpoints);
  return { request: withReport(marked, { breakpoints: wish.breakpoints.length }), caching };
}

/** The same for the body that a translation made of `request`. */
export function withCachingIn(
  body: JsonObject,
  request: ProxyRequest,
  provider: Provider,
  model: string | undefined,
  options: CachingOptions,
): {
  readonly body: JsonObject;
  readonly request: ProxyRequest;
  readonly caching: Caching | undefined;
} {
  const wish = wishFor(request, provider, body, model, options);
  if (wish === undefined) return { body, request, caching: undefined };
  const caching = toCaching(wish);
  if ('notBecause' in wish) return { body, request, caching };
  if ('key' in wish) return { body: { ...body, [CACHE_KEY]: wish.key }, request, caching };
  return {
    body: withMarkers(body, wish.breakpoints),
    request: withReport(request, { breakpoints: wish.breakpoints.length }),
    caching,
  };
}

function toCaching(wish: Wish): Caching {
  return 'breakpoints' in wish ? { markers: wish.breakpoints.map(pathName) } : wish;
}

/** `messages.4.content.1` of the path to it. */
function pathName(path: JsonPath): string {
  return path.join('.');
}

function wishFor(
  request: ProxyRequest,
  provider: Provider,
  body: JsonObject,
  model: string | undefined,
  { config, services }: CachingOptions,
): Wish | undefined {
  const { endpoint } = request.original;
  if (!config.setsBreakpoints || endpoint.operation !== 'generate') return undefined;
  if (!isRewritable(request)) return undefined;
  if (request.report.mode === 'strict') return { notBecause: 'the mode is strict' };
  if (provider.promptCache === 'off') return { notBecause: 'providers.<name>.prompt_cache is off' };
  switch (provider.kind) {
    case 'messages':
      return markersFor(request, body, provider, model, services);
    case 'chat':
      return keyFor(request, body, provider, services);
    default:
      return undefined;
  }
}

function markersFor(
  request: ProxyRequest,
  body: JsonObject,
  { promptCache }: Provider,
  model: string | undefined,
  { conversations }: CachingOptions['services'],
): Wish {
  const leastTokens =
    leastCachedTokens(model ?? '') ?? (promptCache === 'on' ? LARGEST_MINIMUM : undefined);
  if (leastTokens === undefined)
    return { notBecause: 'the model is not known to cache what is marked' };
  if (someMarker(body, () => true)) return { notBecause: 'the client sets its own markers' };
  const { goesOn, isSlow } = conversations.turnOf(request);
  if (!goesOn) return { notBecause: 'it is the first request of its conversation' };
  if (isSlow) return { notBecause: 'the conversation pauses for longer than the cache lives' };
  const breakpoints = breakpointsIn(body, leastTokens);
  if (breakpoints.length === 0)
    return { notBecause: `it has less than the ${leastTokens} tokens that the model caches` };
  return { breakpoints };
}

function keyFor(
  request: ProxyRequest,
  body: JsonObject,
  { origin, promptCache }: Provider,
  { conversations }: CachingOptions['services'],
): Wish | undefined {
  if (promptCache === 'auto' && !takesPromptCacheKey(origin)) return undefined;
  // The provider keeps the conversation, and what is sent does not tell it from any other.
  if (body['previous_response_id'] !== undefined) return undefined;
  if (body[CACHE_KEY] !== undefined) return { notBecause: 'the client sets its own key' };
  const { goesOn, conversation } = conversations.turnOf(request);
  if (!goesOn) return { notBecause: 'it is the first request of its conversation' };
  return { key: `svc-${conversation}` };
}
