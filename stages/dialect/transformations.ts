/**
 * What a provider reports to have changed in a request before the model read it: dropped thinking
 * blocks.
 */
import type { Usage } from '../model/usage.ts';
import { isObject } from './json-kind.ts';

/** A document with this in it is read whole. */
export const TRANSFORMATIONS_NEEDLE = Buffer.from('"input_transformations"');

/** Suffix of a provider's name for a reason; the text before it says which check failed. */
const REASON = /_(?:binding_)?mismatch$/;

/**
 * Returns `usage` with the thinking blocks that `list` reports as dropped, by reason; a later list
 * repeats all of it.
 */
export function withTransformations(usage: Usage, list: unknown): Usage {
  if (!Array.isArray(list)) return usage;
  const reasons = new Map<string, number>();
  for (const entry of list as readonly unknown[]) {
    if (!isObject(entry)) continue;
    const { type, action, reason } = entry;
    if (type !== 'thinking_dropped' && action !== 'removed') continue;
    const named = typeof reason === 'string' ? reason.replace(REASON, '').slice(0, 40) : 'unknown';
    reasons.set(named, (reasons.get(named) ?? 0) + 1);
  }
  return reasons.size === 0 ? usage : { ...usage, droppedThoughts: Object.fromEntries(reasons) };
}
