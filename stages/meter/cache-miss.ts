/**
 * Compares a turn with the previous one if it read less from the provider's cache than was there.
 */
import type { RunInfo, Settlement } from '../../engine/index.ts';
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { CacheMiss } from '../model/cached-turn.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { factsOf } from '../model/model-facts.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { shortHash } from '../model/short-hash.ts';
import { totalInputTokens } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { missOf } from '../prompt-cache/miss.ts';
import type { Names } from '../prompt-cache/miss.ts';
import { cachedTurnOf, nameOfTool, systemOf } from '../prompt-cache/turn.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Services } from '../services.ts';

/** Dialects of providers whose cache misses can be explained by what is sent. */
const EXPLAINED: ReadonlySet<string> = new Set(['messages', 'chat', 'responses']);
/** Providers with automatic caching count in steps of this many tokens. */
const STEP_TOKENS = 128;

/**
 * Undefined for a hit, and if the provider does not report its cache. Stores the turn, so that the
 * next one is compared with it. Called when the client has its answer: all hashing is done then.
 */
export function explainMiss(
  { last: { head }, durationMs }: Settlement<ProxyFrame>,
  run: RunInfo,
  usage: Usage,
  { provider, model }: { readonly provider: Provider; readonly model: string },
  { conversations }: Services,
): CacheMiss | undefined {
  const { cacheReadTokens, cacheWriteTokens, estimated } = usage;
  if (head === undefined || head.status >= 400 || head.failed === true || estimated)
    return undefined;
  const { request, attempts } = head;
  const { original, report } = request;
  if (original.endpoint.operation !== 'generate' || !EXPLAINED.has(original.dialect.name))
    return undefined;
  if (report.cacheHit === true || attempts.length === 0) return undefined;
  if (cacheReadTokens === null && cacheWriteTokens === null) return undefined;
  // Whether an unknown model needs markers is unknown too, unless the configuration says so.
  const isSetToMarkers = provider.kind === 'messages' && provider.promptCache === 'on';
  const facts = factsOf(model);
  const needsMarkers = isSetToMarkers || facts.isMarked;
  const total = totalInputTokens(usage)!;
  const read = cacheReadTokens ?? 0;
  const written = cacheWriteTokens ?? 0;
  const turn = cachedTurnOf(request, {
    request: run.id,
    atMs: run.startedWallMs,
    doneMs: run.startedWallMs + durationMs,
    provider: provider.name,
    model,
    key: shortHash([attempts.at(-1)?.key ?? original.caller()]),
    total,
    read,
    left: needsMarkers || written > 0 ? read + written : cachedAutomatically(facts, total, read),
    needsMarkers,
  });
  if (turn === undefined) return undefined;
  const before = conversations.noteCached(request, turn);
  return missOf(turn, before, namesIn(request), usage.cacheMiss);
}

/**
 * Returns what a provider caches of a prompt automatically; for an unknown model, what it has shown
 * to cache.
 */
function cachedAutomatically(
  { minCachedTokens: min }: ModelFacts,
  total: number,
  read: number,
): number {
  if (min === undefined) return read;
  return total < min ? 0 : total - (total % STEP_TOKENS);
}

function namesIn(request: ProxyRequest): Names {
  const { original } = request;
  const { json } = original;
  return {
    tool: (at) => nameOfTool(listOf(isObject(json) ? json['tools'] : undefined)[at]),
    // Markers of svc, at the place of the previous turn's own.
    marker: (from) =>
      request.edits.markers.length > 0
        ? -1
        : original
            .blocks()
            .findIndex(({ index, hasCacheControl }) => index >= from && hasCacheControl === true),
    piece: (at) => systemOf(original.blocks(), request)[at],
  };
}
