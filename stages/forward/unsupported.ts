/**
 * What single providers refuse that others of their kind take. Nothing states it beforehand, so it
 * is found out by asking: an error answer that names the thing makes the request go out once more
 * without it, and where that went well the next ones go out so at once.
 */
import type { Unsupported } from '../dialect/translate/translate.ts';
import type { RouteTarget } from '../model/request.ts';

/** What is known of each provider and model, for the life of the process. */
export interface KnownUnsupported {
  of(target: RouteTarget): ReadonlySet<Unsupported>;
  add(target: RouteTarget, part: Unsupported): void;
}

const NONE: ReadonlySet<Unsupported> = new Set();
/** Clients choose the names of models; what is not kept is found out again. */
const MOST_KEPT = 1000;

export function createKnownUnsupported(): KnownUnsupported {
  const known = new Map<string, ReadonlySet<Unsupported>>();
  const keyOf = ({ provider, model }: RouteTarget): string => JSON.stringify([provider, model]);
  return {
    of: (target) => known.get(keyOf(target)) ?? NONE,
    add(target, part) {
      const key = keyOf(target);
      if (known.size >= MOST_KEPT && !known.has(key)) return;
      known.set(key, new Set([...(known.get(key) ?? NONE), part]));
    },
  };
}
