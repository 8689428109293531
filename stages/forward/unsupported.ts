/**
 * What single providers refuse that others of their kind take. Nothing states it beforehand, so it
 * is found out by asking: an error answer that names the thing makes the request go out once more
 * without it, and where that went well the next ones go out so at once.
 */
import type { Unsupported } from '../dialect/translate/translate.ts';
import type { RouteTarget } from '../model/request.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';

/** The words of the error answers. */
const WORDS: Readonly<Record<Unsupported, RegExp>> = {
  stream_options: /stream_options|include_usage/,
  'reasoning of calls':
    /reasoning.{0,80}(?:extra|not (?:permitted|allowed|supported)|unsupported|unknown|unexpected)|(?:extra|unsupported|unknown|unexpected|unrecognized).{0,80}reasoning/i,
  'calls without reasoning': /reasoning_content/,
  // The provider's words, with or without quotation marks; other faults of thoughts have other words.
  'thoughts that do not match':
    /messages\.\d+\.content\.\d+: Invalid [`'"]?signature[`'"]? in [`'"]?(?:redacted_)?thinking[`'"]? block/,
  'instructions in the middle':
    /system messages? (?:must|should|can only|is only allowed).{0,40}(?:begin|first|start)|unexpected role ['"]?system/i,
};

/** Larger than any error that names what it is about. */
const MOST_BYTES = 64 * 1024;

/** True for an error that may be about a part of the request. */
export function mayRefuse(status: number): boolean {
  return status === 400 || status === 422;
}

/** The first of `candidates` that the answer refuses. Nothing of its body is taken. */
export async function unsupportedIn(
  { body }: UpstreamResponse,
  candidates: readonly Unsupported[],
): Promise<Unsupported | undefined> {
  // One that breaks off fails once more for the code that reads on.
  const { bytes } = await body.beginning(MOST_BYTES);
  const text = bytes.toString('utf8');
  return candidates.find((each) => WORDS[each].test(text));
}

/** What is known of each provider and model, for the life of the process. */
export interface KnownUnsupported {
  of(target: RouteTarget): ReadonlySet<Unsupported>;
  add(target: RouteTarget, part: Unsupported): void;
}

const NONE: ReadonlySet<Unsupported> = new Set();
/** Clients choose the names of models; what is not kept is found out again. */
const MOST_KEPT = 1000;

export function createKnownUnsupported(): KnownUnsupported {
  const known = new Map<string, ReadonlySet<Unsupported>>();
  const keyOf = ({ provider, model }: RouteTarget): string => JSON.stringify([provider, model]);
  return {
    of: (target) => known.get(keyOf(target)) ?? NONE,
    add(target, part) {
      const key = keyOf(target);
      if (known.size >= MOST_KEPT && !known.has(key)) return;
      known.set(key, new Set([...(known.get(key) ?? NONE), part]));
    },
  };
}
