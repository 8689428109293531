/** Compares parsed JSON. */
import { isObject } from './json-kind.ts';

/** Returns true if both have the same JSON, including the order of members. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((value, at) => isSameJson(value, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(other);
  let at = 0;
  for (const name in one) {
    if (names[at] !== name || !isSameJson(one[name], other[name])) return false;
    at += 1;
  }
  return at === names.length;
}
