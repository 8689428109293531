/**
 * What answers report of billing besides their token counts, by the names that each dialect uses.
 */
import type { Billing, RateTerms } from '../model/billing.ts';
import type { Usage } from '../model/usage.ts';
import { countOf, objectOf, objectsOf } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/**
 * Names of the usual terms, for which the listed rates apply, as providers and servers write them.
 */
const STANDARD = new Set([
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  'not_available',
  'global',
  'ON_DEMAND',
  'TRAFFIC_TYPE_UNSPECIFIED',
  'SERVICE_TIER_STANDARD',
  'SERVICE_TIER_UNSPECIFIED',
]);
/** Values that leave the choice to the provider: they do not say what was served. */
const UNDECIDED = new Set(['', 'auto']);
const PREFIX = /^(?:on_demand_|service_tier_)/;
const MAX_TERM_CHARS = 40;

/**
 * Returns one of the terms under which an answer was served, in lower case; undefined for the usual
 * ones and for none.
 */
export function termOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || STANDARD.has(value) || UNDECIDED.has(value)) return undefined;
  const name = value.toLowerCase().slice(0, MAX_TERM_CHARS).replace(PREFIX, '');
  return STANDARD.has(name) ? undefined : name;
}

/**
 * Returns the term that `value` names, or the previous `known` if it names none: an answer may
 * correct itself.
 */
export function latestTerm(value: unknown, known: string | undefined): string | undefined {
  return typeof value === 'string' && !UNDECIDED.has(value) ? termOf(value) : known;
}

/**
 * The billing of an answer that reports the usual tier: a request for another one was not granted.
 */
export const USUAL: Billing = Object.freeze({ isUsualTier: true });

/**
 * Returns the terms that a request asks for, by the names of any dialect; undefined for the usual
 * ones.
 */
export function requestedTerms(json: unknown): RateTerms | undefined {
  const { speed, service_tier: named, serviceTier, inference_geo: region } = objectOf(json);
  const tier = termOf(named ?? serviceTier);
  const [fast, geo] = [termOf(speed), termOf(region)];
  return fast === undefined && tier === undefined && geo === undefined
    ? undefined
    : toBilling({ speed: fast, tier, geo });
}

/**
 * Requests that a provider works on when it has capacity, and the answers to them [providers' pages
 * on batches].
 */
const BATCH_PATH = /\/batches\b|:(?:asyncBatch\w*|batchGenerate\w*)/;

/**
 * Returns `usage` under the terms known from elsewhere: the path, a header of the answer, and the
 * requested terms if the answer broke off before it could report the served ones.
 */
export function withServedTerms(
  usage: Usage,
  { path, header, requestBody }: { path: string; header: string | undefined; requestBody: unknown },
): Usage {
  const { billing } = usage;
  if (BATCH_PATH.test(path) && billing?.tier === undefined) {
    return withBilling(usage, { tier: 'batch' });
  }
  const named = latestTerm(header, undefined);
  if (named !== undefined && billing?.tier === undefined)
    return withBilling(usage, { tier: named });
  const requested = requestBody === undefined ? undefined : requestedTerms(requestBody);
  if (requested === undefined) return usage;
  const { tier, ...others } = requested;
  const isTierReported = billing?.tier ?? billing?.isUsualTier ?? header !== undefined;
  return withBilling(usage, { ...others, ...(!isTierReported && tier && { tier }), ...billing });
}

/** Returns the billing made of `parts`; undefined if all are undefined. */
export function toBilling(parts: {
  readonly [K in keyof Billing]: Billing[K] | undefined;
}): Billing | undefined {
  const known = Object.entries(parts).filter(([, value]) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== 0,
  );
  return known.length === 0 ? undefined : Object.freeze(Object.fromEntries(known));
}

/** Returns `usage` with `billing` added; the same object if there is nothing to add. */
export function withBilling(usage: Usage, billing: Billing | undefined): Usage {
  if (billing === undefined) return usage;
  return { ...usage, billing: { ...usage.billing, ...billing } };
}

/** Returns `usage` served in the tier that `value` names, or `known` if it names none. */
export function withTier(usage: Usage, value: unknown, known: string | undefined): Usage {
  const tier = latestTerm(value, known);
  const { billing } = usage;
  if (tier !== undefined) return tier === billing?.tier ? usage : withBilling(usage, { tier });
  if (billing?.tier === undefined && (billing?.isUsualTier === true || !isStandard(value)))
    return usage;
  const { tier: _dropped, ...rest } = billing ?? {};
  return { ...usage, billing: billing === undefined ? USUAL : { ...rest, ...USUAL } };
}

/** Returns true for a name of the usual tier. */
export function isStandard(value: unknown): boolean {
  return typeof value === 'string' && !UNDECIDED.has(value) && termOf(value) === undefined;
}

/** Any audio or image detail: most answers have none, or report 0. */
const MODAL_DETAIL = /^(?:audio|image)_tokens$|12h/;

function isModal(details: JsonObject): boolean {
  for (const name in details) if (details[name] !== 0 && MODAL_DETAIL.test(name)) return true;
  return false;
}

/**
 * Returns audio, images and long-lived cache writes from the details of chat and responses, whose
 * counts include them.
 */
export function modalBilling(input: JsonObject, output: JsonObject): Billing | undefined {
  if (!isModal(input) && !isModal(output)) return undefined;
  const cached = objectOf(input['cached_tokens_details']);
  const [cachedAudio, cachedImage] = [
    countOfModality(cached, 'audio'),
    countOfModality(cached, 'image'),
  ];
  const long = Object.keys(input).find((name) => name.includes('write') && name.includes('12h'));
  return toBilling({
    inputAudioTokens: Math.max(0, countOfModality(input, 'audio') - cachedAudio),
    inputImageTokens: Math.max(0, countOfModality(input, 'image') - cachedImage),
    cacheReadAudioTokens: cachedAudio,
    cacheReadImageTokens: cachedImage,
    outputAudioTokens: countOfModality(output, 'audio'),
    outputImageTokens: countOfModality(output, 'image'),
    cacheWrite12hTokens: (long === undefined ? null : countOf(input[long])) ?? undefined,
  });
}

function countOfModality(details: JsonObject, modality: string): number {
  return countOf(details[`${modality}_tokens`]) ?? 0;
}

/**
 * Counters of tools that a provider runs: those billed at a rate, and those that cost only their
 * tokens [platform.claude.com, pricing, 2026-11].
 */
const KNOWN_COUNTERS = new Set([
  'web_search_requests',
  'web_fetch_requests',
  'tool_search_requests',
]);

/** Returns names of a provider's tool counters without a rate here; undefined for none. */
export function unknownCounters(figures: JsonObject): Billing | undefined {
  const { server_tool_use: used, server_side_tool_usage_details: details } = figures;
  const sources = countOf(figures['num_sources_used']) ?? 0;
  if (used === undefined && details === undefined && sources === 0) return undefined;
  const names = [objectOf(used), objectOf(details)].flatMap((counters) =>
    Object.keys(counters).filter(
      (name) => !KNOWN_COUNTERS.has(name) && (countOf(counters[name]) ?? 0) > 0,
    ),
  );
  return toBilling({ unknownUses: sources > 0 ? [...names, 'num_sources_used'] : names });
}

/** Returns tokens by modality (`AUDIO`, `IMAGE`, …) from lists of generative answers. */
export function modalities(...lists: readonly unknown[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { modality, tokenCount } of lists.flatMap(objectsOf)) {
    if (typeof modality !== 'string') continue;
    sums.set(modality, (sums.get(modality) ?? 0) + (countOf(tokenCount) ?? 0));
  }
  return sums;
}
