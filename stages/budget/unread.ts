/** What a request that passes unread is likely to use: enough of its body is looked at to price it. */
import type { EstimatedUse } from './estimate.ts';
import { CHOICES_NAMES, LIMIT_NAMES, toAskedOutput } from './most-output.ts';
import type { Operation } from '../model/endpoint.ts';
import { modelInPath, pathOf } from '../model/target.ts';
import type { BodyFrame } from '../model/body.ts';
import { isPlain } from '../model/headers.ts';
import { tokensOfLength } from '../model/input-size.ts';
import { scalarAt, spansOf } from '../wire/unread-model.ts';
import type { ByteSpan } from '../wire/json-path.ts';
import { createPathScanner } from '../wire/json-path.ts';

/** A request of which nothing is known before it is answered. */
const UNKNOWN: EstimatedUse = Object.freeze({
  model: undefined,
  inputTokens: 0,
  output: undefined,
});

/** Nothing is generated or embedded by these, and providers take nothing for them. */
const FREE: ReadonlySet<Operation> = new Set(['count_tokens', 'models', 'probe']);
const FREE_PATH = /^\/v1(?:beta)?\/(?:files|uploads|vector_stores|cachedContents)\b/;

/**
 * What is done with something that is there already: a stored completion gets other notes, work is ended,
 * conversations and their messages are put together. Only what begins work is charged for.
 */
const ABOUT_PATH =
  /^\/v1\/(?:chat\/completions\/[^/]+|(?:responses|batches|messages\/batches|fine_tuning\/jobs)\/[^/]+\/(?:cancel|pause)|threads\/(?!runs$)[^/]+(?:\/messages(?:\/[^/]+)?|\/runs\/[^/]+(?:\/cancel)?)?|threads|assistants(?:\/[^/]+)?|conversations(?:\/.*)?)$|:cancel$/;

const scan = createPathScanner([
  ['model'],
  ['input'],
  ['prompt'],
  ...[...LIMIT_NAMES, ...CHOICES_NAMES].map((name) => [name]),
]);

/** A conversation of Google's that names its model and its input like a completion. */
const INTERACTIONS = /^\/v1(?:alpha|beta1?)\/interactions$/;

const COMMA = 0x2c;

/**
 * What costs by what comes of it (pictures, sound, films, training), or by files that the provider has
 * (batches, runs): neither its body nor its answer says what it will come to.
 */
const UNFORESEEN_PATH =
  /^\/v1\/(?:images|audio|videos|batches|messages\/batches|fine_tuning|evals|realtime|threads(?:\/[^/]+)?\/runs)(?:\/|$)|:(?:predict|generate[A-Z]|asyncBatch|batchGenerate)\w*$/;

/** True of a request that costs something, and about which `estimateUnread` knows nothing. */
export function isUnforeseen({ target, endpoint }: BodyFrame): boolean {
  return !endpoint.rewritable && UNFORESEEN_PATH.test(pathOf(target));
}

function embeds({ target, endpoint }: BodyFrame): boolean {
  return endpoint.operation === 'embeddings' || /:\w*embed/i.test(target);
}

const GENERATES: ReadonlySet<Operation> = new Set(['generate', 'compact', 'completions']);

/** True of a request whose answer must say what it used, in tokens, pictures or otherwise. */
export function isBilledByUse(body: BodyFrame): boolean {
  if (GENERATES.has(body.endpoint.operation) || embeds(body)) return true;
  return mayCost(body) && isUnforeseen(body);
}

/** True for a request that may cost something: only what is posted is ever charged for. */
export function mayCost({ method, target, endpoint }: BodyFrame): boolean {
  if (endpoint.operation === 'generate') return true;
  if (method !== 'POST' || FREE.has(endpoint.operation) || FREE_PATH.test(target)) return false;
  return !ABOUT_PATH.test(pathOf(target));
}

/**
 * Model and likely usage of a request that was not parsed. All zero where its body cannot
 * tell, be it compressed, a form, or a picture's description.
 */
export function estimateUnread(body: BodyFrame): EstimatedUse {
  const { endpoint, target, bytes } = body;
  const { operation } = endpoint;
  const isEmbedding = embeds(body);
  const isText = operation === 'completions' || operation === 'compact';
  if (!isEmbedding && !isText && !INTERACTIONS.test(pathOf(target))) return UNKNOWN;
  if (!isPlain(body)) return UNKNOWN;
  const found = spansOf(bytes, scan);
  if (found === undefined) return UNKNOWN;
  const [model, input, prompt, ...others] = found;
  const asked = input ?? prompt ?? { start: 0, end: bytes.length };
  const inputTokens = tokensIn(bytes, asked);
  const values = others.map((span) => scalarAt(bytes, span));
  const [limits, choices] = [values.slice(0, LIMIT_NAMES.length), values.slice(LIMIT_NAMES.length)];
  const named = scalarAt(bytes, model);
  return {
    model: modelInPath(target) ?? (typeof named === 'string' ? named : undefined),
    inputTokens,
    output: isEmbedding ? undefined : toAskedOutput(limits, choices),
  };
}

/** A list of numbers is text that the client has cut into tokens itself. */
function tokensIn(bytes: Buffer, { start, end }: ByteSpan): number {
  const isTokens = /^[\s[]*\d/.test(bytes.toString('latin1', start, Math.min(end, start + 64)));
  if (!isTokens) return tokensOfLength(end - start);
  let count = 1;
  for (
    let at = bytes.indexOf(COMMA, start);
    at >= 0 && at < end;
    at = bytes.indexOf(COMMA, at + 1)
  ) {
    count += 1;
  }
  return count;
}
