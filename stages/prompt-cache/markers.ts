/** The cache markers in a request body of the messages dialect. */
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';

/**
 * Returns true if `predicate` holds for any marker: of the body itself, or of a part that may have
 * one.
 */
export function someMarker(body: JsonObject, predicate: (marker: unknown) => boolean): boolean {
  const holds = (value: unknown): boolean => {
    const marker = isObject(value) ? value['cache_control'] : undefined;
    return marker !== undefined && marker !== null && predicate(marker);
  };
  const inList = (list: unknown): boolean =>
    listOf(list).some((part) => holds(part) || listOf(contentOf(part)).some(holds));
  return (
    holds(body) ||
    inList(body['tools']) ||
    inList(body['system']) ||
    listOf(body['messages']).some((message) => inList(contentOf(message)))
  );
}

export function contentOf(value: unknown): unknown {
  return isObject(value) ? value['content'] : undefined;
}
