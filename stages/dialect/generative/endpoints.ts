/** The paths of the generative dialect: the model and the method are in the path. */
import {
  countingEndpoint,
  generationEndpoint,
  opaqueEndpoint,
  opaqueConversationEndpoint,
} from '../../model/endpoint.ts';
import type { DialectEndpoints, Endpoint } from '../../model/endpoint.ts';

const GENERATE = generationEndpoint('generative', 'generative');
const COUNT = countingEndpoint('generative', 'generative');

// A model's name may contain colons and slashes: the method follows the last colon.
const GENERATE_CALL =
  /^\/v1(?:alpha|beta1?)?\/models\/.+:(?:generateContent|streamGenerateContent)$/;
const COUNT_CALL = /^\/v1(?:alpha|beta1?)?\/models\/.+:countTokens$/;
const MODEL_CALL = /^\/v1\/models\/.+:[A-Za-z]+$/;
/** A POST to `collection/name:verb`. */
const CALL = /^\/v1(?:alpha|beta1?)?\/[A-Za-z]+\/.+:(\w+)$/;
/** Paths that no other kind has below a version, and the upload and download paths beside it. */
const OWN = /^\/(?:v1(?:alpha|beta1?)|(?:upload|download)\/v1(?:alpha|beta1?)?)\/./;

export const generativeEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {},
  other(path, method) {
    if (GENERATE_CALL.test(path)) return method === 'POST' ? GENERATE : { allow: ['POST'] };
    if (method === 'POST' && COUNT_CALL.test(path)) return COUNT;
    // A fine-tuned model's id has colons as well, but clients never post to it.
    const isCall = method === 'POST' && MODEL_CALL.test(path);
    return isCall || OWN.test(path) ? opaqueEndpointAt(path, method) : undefined;
  },
});

/**
 * Returns how a path is served that only the generative kind has, other than a model's own
 * generation.
 */
function opaqueEndpointAt(path: string, method: string): Endpoint {
  if (method !== 'POST') return opaqueEndpoint('other', 'generative');
  if (/^\/v1(?:alpha|beta1?)\/cachedContents$/.test(path))
    return opaqueConversationEndpoint('other', 'generative');
  // The verb by itself: an expression that searches for words inside it takes quadratic time.
  const verb = CALL.exec(path)?.[1] ?? '';
  if (!/count|generate/i.test(verb)) return opaqueEndpoint('other', 'generative');
  return opaqueConversationEndpoint(/^count/i.test(verb) ? 'count_tokens' : 'other', 'generative');
}
