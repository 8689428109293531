/** Decisions that last as long as the object. */
import type { Decisions } from './decisions.ts';

/** For what is played through without a proxy, which must leave nothing behind. */
export function inMemoryDecisions(): Decisions {
  const values = new Map<string, string>();
  return {
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    flush: () => Promise.resolve(),
    get size() {
      return values.size;
    },
  };
}
