/**
 * Estimated usage of a request that is forwarded without being parsed: only the members that the
 * price depends on are read.
 */
import type { EstimatedUse } from './estimate.ts';
import { CHOICES_NAMES, LIMIT_NAMES, toRequestedOutput } from './max-output.ts';
import type { Operation } from '../model/endpoint.ts';
import { modelInPath, pathOf } from '../model/target.ts';
import type { BodyFrame } from '../model/body.ts';
import { isPlain } from '../model/headers.ts';
import { tokensOfLength } from '../model/input-size.ts';
import { scalarAt, spansOf } from '../wire/unread-model.ts';
import type { ByteSpan } from '../wire/json-path.ts';
import { createPathScanner } from '../wire/json-path.ts';

/** A request about which nothing is known before its answer. */
const UNKNOWN: EstimatedUse = Object.freeze({
  model: undefined,
  inputTokens: 0,
  output: undefined,
});

/** Operations that generate or embed nothing, and that providers do not charge for. */
const UNCHARGED_OPERATIONS: ReadonlySet<Operation> = new Set(['count_tokens', 'models', 'probe']);
const UNCHARGED_PATH = /^\/v1(?:beta)?\/(?:files|uploads|vector_stores|cachedContents)\b/;

/**
 * Paths of operations on existing resources, such as editing metadata or cancelling a job. Only
 * starting work is charged.
 */
const EXISTING_RESOURCE_PATH =
  /^\/v1\/(?:chat\/completions\/[^/]+|(?:responses|batches|messages\/batches|fine_tuning\/jobs)\/[^/]+\/(?:cancel|pause)|threads\/(?!runs$)[^/]+(?:\/messages(?:\/[^/]+)?|\/runs\/[^/]+(?:\/cancel)?)?|threads|assistants(?:\/[^/]+)?|conversations(?:\/.*)?)$|:cancel$/;

const scan = createPathScanner([
  ['model'],
  ['input'],
  ['prompt'],
  ...[...LIMIT_NAMES, ...CHOICES_NAMES].map((name) => [name]),
]);

/** Google's conversation endpoint, which names its model and its input like a completion. */
const INTERACTIONS = /^\/v1(?:alpha|beta1?)\/interactions$/;

const COMMA = 0x2c;

/**
 * Requests charged by their result (images, audio, video, training), or by files at the provider
 * (batches, runs): neither body nor answer says what they will cost.
 */
const UNPREDICTABLE_PATH =
  /^\/v1\/(?:images|audio|videos|batches|messages\/batches|fine_tuning|evals|realtime|threads(?:\/[^/]+)?\/runs)(?:\/|$)|:(?:predict|generate[A-Z]|asyncBatch|batchGenerate)\w*$/;

/** Returns true for a request that costs something which `estimateUnparsed` cannot estimate. */
export function isUnpredictable({ target, endpoint }: BodyFrame): boolean {
  return !endpoint.rewritable && UNPREDICTABLE_PATH.test(pathOf(target));
}

function isEmbeddingRequest({ target, endpoint }: BodyFrame): boolean {
  return endpoint.operation === 'embeddings' || /:\w*embed/i.test(target);
}

const GENERATING_OPERATIONS: ReadonlySet<Operation> = new Set([
  'generate',
  'compact',
  'completions',
]);

/**
 * Returns true for a request whose answer must report its usage, in tokens, images or otherwise.
 */
export function isBilledByUse(body: BodyFrame): boolean {
  if (GENERATING_OPERATIONS.has(body.endpoint.operation) || isEmbeddingRequest(body)) return true;
  return mayCost(body) && isUnpredictable(body);
}

/** Returns true for a request that may cost something: only POSTs are ever charged. */
export function mayCost({ method, target, endpoint }: BodyFrame): boolean {
  if (endpoint.operation === 'generate') return true;
  if (
    method !== 'POST' ||
    UNCHARGED_OPERATIONS.has(endpoint.operation) ||
    UNCHARGED_PATH.test(target)
  )
    return false;
  return !EXISTING_RESOURCE_PATH.test(pathOf(target));
}

/** Returns true for a request that is not charged, but may fetch or end a job started earlier. */
export function mayConcernJob(body: BodyFrame): boolean {
  return !UNCHARGED_OPERATIONS.has(body.endpoint.operation) && !mayCost(body);
}

/**
 * Returns model and likely usage of a request that was not parsed. All zero if its body does not
 * tell, because it is compressed, a form, or an image description.
 */
export function estimateUnparsed(body: BodyFrame): EstimatedUse {
  const { endpoint, target, bytes } = body;
  const { operation } = endpoint;
  const isEmbedding = isEmbeddingRequest(body);
  const isText = operation === 'completions' || operation === 'compact';
  if (!isEmbedding && !isText && !INTERACTIONS.test(pathOf(target))) return UNKNOWN;
  if (!isPlain(body)) return UNKNOWN;
  const found = spansOf(bytes, scan);
  if (found === undefined) return UNKNOWN;
  const [model, input, prompt, ...others] = found;
  const span = input ?? prompt ?? { start: 0, end: bytes.length };
  const inputTokens = tokensIn(bytes, span);
  const values = others.map((other) => scalarAt(bytes, other));
  const [limits, choices] = [values.slice(0, LIMIT_NAMES.length), values.slice(LIMIT_NAMES.length)];
  const named = scalarAt(bytes, model);
  return {
    model: modelInPath(target) ?? (typeof named === 'string' ? named : undefined),
    inputTokens,
    output: isEmbedding ? undefined : toRequestedOutput(limits, choices),
  };
}

/** A list of numbers is text that the client has tokenized itself. */
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
