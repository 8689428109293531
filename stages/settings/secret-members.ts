/**
 * Values that are shown without some of their members: for example an alert without its destination
 * URL.
 */
import { isObject } from '../dialect/json-kind.ts';

/** Applies `change` to every text in `value` that is a member named in `names`, at any depth. */
export function mapSecretMembers(
  value: unknown,
  names: readonly string[],
  change: (text: string) => string,
): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSecretMembers(item, names, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' && names.includes(name)
        ? change(member)
        : mapSecretMembers(member, names, change),
    ]),
  );
}
