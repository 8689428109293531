/**
 * Content encrypted or signed for another account, project or model: encrypted reasoning of the
 * responses dialect, thought signatures of the generative one. Each server can only read its own,
 * and refuses the whole request for any other [openai: invalid_encrypted_content; Gemini: corrupted
 * thought signature]. A client keeps sending what it was given, so without this a conversation that
 * a fallback served once, or whose key has changed, is refused for ever. Nothing is removed before
 * a server has refused it.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonPath } from '../../model/block.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { isObject, listOf, stringOf } from '../../dialect/json-kind.ts';
import type { JsonObject } from '../../dialect/json-kind.ts';
import { ANY_SIGNATURE } from '../../dialect/generative/any-signature.ts';
import { findItems, findSpans } from '../../wire/json-path.ts';
import { removeListed } from '../../wire/members.ts';
import { insertMember, splice } from '../../wire/splice.ts';
import type { SpliceEdit } from '../../wire/splice.ts';

/** Its name in `Unsupported`. */
export const FOREIGN = 'thoughts of another account';
export const UNSIGNED = 'calls without a signature';

/**
 * Maximum number of items remembered over all providers; the least recently seen are evicted first.
 */
const MAX_REMEMBERED = 20_000;

/** One encrypted or signed item of a request. */
export interface SealedThought {
  /** What is removed or replaced: an item of the input, or a signature. */
  readonly path: JsonPath;
  readonly seal: string;
  /** True for a signature of a call, where one is required. */
  readonly isOfCall: boolean;
}

/** Which items a provider has refused, for the life of the process. */
export interface ForeignThoughts {
  has(provider: string, thought: SealedThought): boolean;
  add(provider: string, thoughts: readonly SealedThought[]): void;
}

export function createForeignThoughts(): ForeignThoughts {
  // Bounded by size: with `max`, room for all is allocated at once.
  const refused = new LRUCache<string, true>({
    maxSize: MAX_REMEMBERED,
    sizeCalculation: () => 1,
  });
  const keyOf = (provider: string, { seal }: SealedThought): string =>
    createHash('sha256')
      .update(JSON.stringify([provider, seal]))
      .digest('base64');
  return {
    has: (provider, thought) => refused.size > 0 && refused.get(keyOf(provider, thought)) === true,
    add(provider, thoughts) {
      for (const thought of thoughts) refused.set(keyOf(provider, thought), true);
    },
  };
}

/** Returns such items of a request, in its own dialect. */
export function sealedIn({ original }: ProxyRequest): readonly SealedThought[] {
  const { json, endpoint } = original;
  if (!isObject(json)) return [];
  if (endpoint.dialect === 'responses') return sealedItems(json);
  return endpoint.dialect === 'generative' ? signatures(json) : [];
}

/**
 * Reasoning without encrypted text is looked up by its id, which another account does not have
 * either.
 */
function sealedItems({ input }: JsonObject): SealedThought[] {
  return listOf(input).flatMap((item, at) => {
    if (!isObject(item) || item['type'] !== 'reasoning') return [];
    const seal = stringOf(item['encrypted_content']) ?? stringOf(item['id']);
    return seal === undefined ? [] : { path: ['input', at], seal, isOfCall: false };
  });
}

/** A part of a model's content, with its path. */
interface PlacedPart {
  readonly path: JsonPath;
  readonly part: JsonObject;
}

function modelParts({ contents }: JsonObject): PlacedPart[][] {
  return listOf(contents).flatMap((content, at) => {
    if (!isObject(content) || content['role'] !== 'model') return [];
    const parts = listOf(content['parts']).flatMap((part, index) =>
      isObject(part) ? { path: ['contents', at, 'parts', index], part } : [],
    );
    return [parts];
  });
}

const isCall = ({ part }: PlacedPart): boolean =>
  isObject(part['functionCall'] ?? part['function_call']);

/** Returns the spelling under which a part has its signature. */
const signatureOf = ({ part }: PlacedPart): string | undefined =>
  ['thoughtSignature', 'thought_signature'].find((name) => typeof part[name] === 'string');

function signatures(json: JsonObject): SealedThought[] {
  return modelParts(json)
    .flat()
    .flatMap((placed) => {
      const name = signatureOf(placed);
      const seal = name === undefined ? undefined : stringOf(placed.part[name]);
      if (name === undefined || seal === undefined || seal === ANY_SIGNATURE) return [];
      return { path: [...placed.path, name], seal, isOfCall: isCall(placed) };
    });
}

/**
 * Returns the first calls of the model's turns that have no signature, which newer models refuse.
 */
function unsignedCalls(json: JsonObject): JsonPath[] {
  return modelParts(json).flatMap((parts) => {
    const first = parts.find(isCall);
    return first === undefined || signatureOf(first) !== undefined ? [] : [first.path];
  });
}

/** Returns true if a call of another model may have to be marked as such. */
export function hasUnsignedCalls({ original }: ProxyRequest): boolean {
  const { json, endpoint } = original;
  return endpoint.dialect === 'generative' && isObject(json) && unsignedCalls(json).length > 0;
}

/**
 * Returns `bytes`, the body of such a request, with the signature that the provider accepts for
 * calls of other models.
 */
export function withSignatures(bytes: Buffer, { original }: ProxyRequest): Buffer {
  const { json } = original;
  const paths = isObject(json) ? unsignedCalls(json) : [];
  return splice(
    bytes,
    findSpans(bytes, paths).flatMap((span) =>
      span === undefined ? [] : insertMember(bytes, span, 'thoughtSignature', ANY),
    ),
  );
}

const ANY = JSON.stringify(ANY_SIGNATURE);

/** Returns `bytes` without these items; every other byte stays. */
export function withoutThoughts(bytes: Buffer, thoughts: readonly SealedThought[]): Buffer {
  const items = thoughts.filter(({ path }) => path[0] === 'input');
  const marks = thoughts.filter(({ path }) => path[0] !== 'input');
  return splice(bytes, [...withoutItems(bytes, items), ...withoutMarks(bytes, marks)]);
}

/** Removes items from the list `input`. */
function withoutItems(bytes: Buffer, thoughts: readonly SealedThought[]): readonly SpliceEdit[] {
  if (thoughts.length === 0) return [];
  const [input] = findSpans(bytes, [['input']]);
  if (input === undefined) return [];
  const removedIndexes = new Set(thoughts.map(({ path }) => path[1]));
  return removeListed(findItems(bytes, input.start, input.end), (at) => removedIndexes.has(at));
}

/** A call gets the signature that is valid for any model's call; other parts get an empty one. */
function withoutMarks(bytes: Buffer, thoughts: readonly SealedThought[]): SpliceEdit[] {
  const spans = findSpans(
    bytes,
    thoughts.map(({ path }) => path),
  );
  return thoughts.flatMap(({ isOfCall }, at) => {
    const span = spans[at];
    return span === undefined ? [] : { ...span, bytes: Buffer.from(isOfCall ? ANY : '""') };
  });
}
