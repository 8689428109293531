/** A provider's own report of why its prompt cache was missed, if the client asked for it. */
import type { Usage } from '../model/usage.ts';
import { countOf, isObject } from './json-kind.ts';

/** A document that contains one of these is parsed whole. */
export const DIAGNOSTICS_NEEDLES = ['"cache_miss_reason"', '"prompt_cache_diagnostics"'].map(
  (name) => Buffer.from(name),
);

const MAX_CHARS = 60;

/**
 * Returns `usage` with the reason in `diagnostics`: `{cache_miss_reason: {type,
 * cache_missed_input_tokens}}` of Anthropic, `{type: cache_miss, reason, cache_missed_tokens}` of
 * OpenAI; unchanged if there is none.
 */
export function withNamedMiss(usage: Usage, diagnostics: unknown): Usage {
  if (!isObject(diagnostics)) return usage;
  const cause = diagnostics['cache_miss_reason'] ?? diagnostics['reason'];
  const inner = isObject(cause) ? cause : diagnostics;
  const reason = isObject(cause) ? cause['type'] : cause;
  if (typeof reason !== 'string' || reason === '') return usage;
  const tokens = inner['cache_missed_input_tokens'] ?? inner['cache_missed_tokens'];
  const cacheMiss = { reason: reason.slice(0, MAX_CHARS), missedTokens: countOf(tokens) };
  return { ...usage, cacheMiss };
}
