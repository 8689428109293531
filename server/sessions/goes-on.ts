/** Whether a request goes on with an earlier one: it begins with all of its items. */
import { createHash } from 'node:crypto';

/** One hash for each item. Clients move their cache markers from turn to turn, and mean the same. */
export function itemHashes(items: readonly unknown[]): readonly string[] {
  return items.map((item) => {
    const text = JSON.stringify(item, (name, value: unknown) =>
      name === 'cache_control' ? undefined : value,
    );
    return createHash('sha256').update(text).digest('base64');
  });
}

export function goesOn(before: readonly string[], now: readonly string[]): boolean {
  return before.length <= now.length && before.every((hash, at) => now[at] === hash);
}
