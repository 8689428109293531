/** Tells whether a request continues an earlier one: it begins with all of its items. */
import { createHash } from 'node:crypto';

/** Returns one hash per item, ignoring cache markers, which clients move from turn to turn. */
export function itemHashes(items: readonly unknown[]): readonly string[] {
  return items.map((item) => {
    const text = JSON.stringify(item, (name, value: unknown) =>
      name === 'cache_control' ? undefined : value,
    );
    return createHash('sha256').update(text).digest('base64');
  });
}

export function continues(before: readonly string[], now: readonly string[]): boolean {
  return before.length <= now.length && before.every((hash, index) => now[index] === hash);
}
