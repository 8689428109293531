/** What answers say of billing beside their token counts, in the words of every dialect. */
import type { Billing, RateTerms } from '../model/billing.ts';
import type { Usage } from '../model/usage.ts';
import { countOf, objectOf, objectsOf } from './json-kind.ts';
import type { JsonObject } from './json-kind.ts';

/** Words for the usual terms, at which the listed rates hold, as providers and servers write them. */
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
/** Words that leave it to the provider: they say nothing of what was served. */
const UNDECIDED = new Set(['', 'auto']);
const PREFIX = /^(?:on_demand_|service_tier_)/;
const MAX_TERM_CHARS = 40;

/** One of the terms under which an answer was served, in lower case; undefined for the usual ones and for none. */
export function termOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || STANDARD.has(value) || UNDECIDED.has(value)) return undefined;
  const name = value.toLowerCase().slice(0, MAX_TERM_CHARS).replace(PREFIX, '');
  return STANDARD.has(name) ? undefined : name;
}

/** The term that `value` names, or what was `known` before where it names none: an answer may correct itself. */
export function lastTerm(value: unknown, known: string | undefined): string | undefined {
  return typeof value === 'string' && !UNDECIDED.has(value) ? termOf(value) : known;
}

/** The billing of an answer that says of its tier that it is the usual one: a wish for another one was not granted. */
export const USUAL: Billing = Object.freeze({ isUsualTier: true });

/** The terms that a request asks for, by the names of any dialect; undefined where they are the usual ones. */
export function askedTerms(json: unknown): RateTerms | undefined {
  const { speed, service_tier: named, serviceTier, inference_geo: region } = objectOf(json);
  const tier = termOf(named ?? serviceTier);
  const [fast, geo] = [termOf(speed), termOf(region)];
  return fast === undefined && tier === undefined && geo === undefined
    ? undefined
    : toBilling({ speed: fast, tier, geo });
}

/** Requests that a provider works on when it has time, and the answers to them [providers' pages on batches]. */
const BATCH_PATH = /\/batches\b|:(?:asyncBatch\w*|batchGenerate\w*)/;

/**
 * `usage` under what is known of its terms from elsewhere: the path, a header of the answer, and what was
 * asked for where the answer broke off before it could say what was served.
 */
export function withServedTerms(
  usage: Usage,
  { path, header, asked }: { path: string; header: string | undefined; asked: unknown },
): Usage {
  const { billing } = usage;
  if (BATCH_PATH.test(path) && billing?.tier === undefined) {
    return withBilling(usage, { tier: 'batch' });
  }
  const named = lastTerm(header, undefined);
  if (named !== undefined && billing?.tier === undefined)
    return withBilling(usage, { tier: named });
  const wish = asked === undefined ? undefined : askedTerms(asked);
  if (wish === undefined) return usage;
  const { tier, ...others } = wish;
  const isTierTold = billing?.tier ?? billing?.isUsualTier ?? header !== undefined;
  return withBilling(usage, { ...others, ...(!isTierTold && tier && { tier }), ...billing });
}

/** What a list of `parts` has of billing; undefined where that is nothing. */
export function toBilling(parts: {
  readonly [K in keyof Billing]: Billing[K] | undefined;
}): Billing | undefined {
  const told = Object.entries(parts).filter(([, value]) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== 0,
  );
  return told.length === 0 ? undefined : Object.freeze(Object.fromEntries(told));
}

/** `usage` with what `billing` adds to it; the same object where that is nothing. */
export function withBilling(usage: Usage, billing: Billing | undefined): Usage {
  if (billing === undefined) return usage;
  return { ...usage, billing: { ...usage.billing, ...billing } };
}

/** `usage` served in the tier that `value` names, or `known` where it names none. */
export function withTier(usage: Usage, value: unknown, known: string | undefined): Usage {
  const tier = lastTerm(value, known);
  const { billing } = usage;
  if (tier !== undefined) return tier === billing?.tier ? usage : withBilling(usage, { tier });
  if (billing?.tier === undefined && (billing?.isUsualTier === true || !isStandard(value)))
    return usage;
  const { tier: _dropped, ...rest } = billing ?? {};
  return { ...usage, billing: billing === undefined ? USUAL : { ...rest, ...USUAL } };
}

/** True of a word that names the usual tier. */
export function isStandard(value: unknown): boolean {
  return typeof value === 'string' && !UNDECIDED.has(value) && termOf(value) === undefined;
}

/** Any detail of sound or pictures: most answers have none, and those that have them say 0. */
const MODAL_DETAIL = /^(?:audio|image)_tokens$|12h/;

function isModal(details: JsonObject): boolean {
  for (const name in details) if (details[name] !== 0 && MODAL_DETAIL.test(name)) return true;
  return false;
}

/** Sound, pictures and long-lived writes in the details of chat and responses, whose counts include them. */
export function modalBilling(input: JsonObject, output: JsonObject): Billing | undefined {
  if (!isModal(input) && !isModal(output)) return undefined;
  const cached = objectOf(input['cached_tokens_details']);
  const [cachedAudio, cachedImage] = [counted(cached, 'audio'), counted(cached, 'image')];
  const long = Object.keys(input).find((name) => name.includes('write') && name.includes('12h'));
  return toBilling({
    inputAudioTokens: Math.max(0, counted(input, 'audio') - cachedAudio),
    inputImageTokens: Math.max(0, counted(input, 'image') - cachedImage),
    cacheReadAudioTokens: cachedAudio,
    cacheReadImageTokens: cachedImage,
    outputAudioTokens: counted(output, 'audio'),
    outputImageTokens: counted(output, 'image'),
    cacheWrite12hTokens: (long === undefined ? null : countOf(input[long])) ?? undefined,
  });
}

function counted(details: JsonObject, modality: string): number {
  return countOf(details[`${modality}_tokens`]) ?? 0;
}

/** Counters of tools that a provider runs: what is billed with a rate, and what costs the tokens alone [platform.claude.com, pricing, 2026-11]. */
const KNOWN_COUNTERS = new Set([
  'web_search_requests',
  'web_fetch_requests',
  'tool_search_requests',
]);

/** Names of what figures count of a provider's own tools that has no rate here; undefined for nothing. */
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

/** Tokens by modality (`AUDIO`, `IMAGE`, …) in lists of generative answers. */
export function modalities(...lists: readonly unknown[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { modality, tokenCount } of lists.flatMap(objectsOf)) {
    if (typeof modality !== 'string') continue;
    sums.set(modality, (sums.get(modality) ?? 0) + (countOf(tokenCount) ?? 0));
  }
  return sums;
}
