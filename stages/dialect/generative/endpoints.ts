/** The paths of the generative dialect: the model and what is asked of it stand in the path. */
import { generating, passing, passingConversation } from '../../model/endpoint.ts';
import type { DialectEndpoints, Endpoint } from '../../model/endpoint.ts';

const GENERATE = generating('generative', 'generative');

// A model's name may hold colons and slashes of its own: what is asked of it follows the last colon.
const GENERATE_CALL =
  /^\/v1(?:alpha|beta1?)?\/models\/.+:(?:generateContent|streamGenerateContent)$/;
const MODEL_CALL = /^\/v1\/models\/.+:[A-Za-z]+$/;
/** What is posted to `collection/name:verb`. */
const CALL = /^\/v1(?:alpha|beta1?)?\/[A-Za-z]+\/.+:(\w+)$/;
/** What no other kind has below a version of its own, and files on their way to and from beside it. */
const OWN = /^\/(?:v1(?:alpha|beta1?)|(?:upload|download)\/v1(?:alpha|beta1?)?)\/./;

export const generativeEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {},
  other(path, method) {
    if (GENERATE_CALL.test(path)) return method === 'POST' ? GENERATE : { allow: ['POST'] };
    // A fine-tuned model's id has colons as well, but nobody posts to it.
    const isCall = method === 'POST' && MODEL_CALL.test(path);
    return isCall || OWN.test(path) ? unread(path, method) : undefined;
  },
});

/** A path that only the generative kind has, other than a model's own generation. */
function unread(path: string, method: string): Endpoint {
  if (method !== 'POST') return passing('other', 'generative');
  if (/^\/v1(?:alpha|beta1?)\/cachedContents$/.test(path))
    return passingConversation('other', 'generative');
  // The verb by itself: an expression that looks for words inside it costs the square of its length.
  const verb = CALL.exec(path)?.[1] ?? '';
  if (!/count|generate/i.test(verb)) return passing('other', 'generative');
  return passingConversation(/^count/i.test(verb) ? 'count_tokens' : 'other', 'generative');
}
