/** What a provider says it has done to a request before the model read it: thoughts that it left out. */
import type { Usage } from '../model/usage.ts';
import { isObject } from './json-kind.ts';

/** A document with this in it is read whole. */
export const TRANSFORMATIONS_NEEDLE = Buffer.from('"input_transformations"');

/** Providers' names of reasons end so; what is before it says which check failed. */
const REASON = /_(?:binding_)?mismatch$/;

/** `usage` with the thoughts that `list` says were dropped, by reason; a list that comes later says all of it again. */
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
