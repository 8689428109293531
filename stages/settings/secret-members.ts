/** Values that are shown but for some of their members: an alert with the address it is sent to. */
import { isObject } from '../dialect/json-kind.ts';

/** `value` with `change` applied to every text that is a member named in `names`, at any depth. */
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
