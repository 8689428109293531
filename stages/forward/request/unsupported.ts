/**
 * Parts of a request that a single provider refuses although others of its kind accept them. This
 * is not documented, so it is learned by trying: after an error that names the part, the request is
 * sent again without it, and if that succeeds, later requests omit it at once.
 */
import type { Unsupported } from '../../dialect/translate/translate.ts';
import type { RouteTarget } from '../../model/request.ts';

/**
 * What is known about each provider and model, for the life of the process. `model` is the one that
 * the request names.
 */
export interface KnownUnsupported {
  of(target: RouteTarget, model: string | undefined): ReadonlySet<Unsupported>;
  add(target: RouteTarget, model: string | undefined, part: Unsupported): void;
}

/** Differences between models of one provider; everything else depends on its server. */
const OF_MODEL: ReadonlySet<Unsupported> = new Set(['instructions in the middle']);

const NONE: ReadonlySet<Unsupported> = new Set();
/** Clients choose the names of models; evicted entries are learned again. */
const MAX_REMEMBERED = 1000;

export function createKnownUnsupported(): KnownUnsupported {
  const known = new Map<string, ReadonlySet<Unsupported>>();
  const keyOf = (provider: string, model: string | undefined): string =>
    JSON.stringify([provider, model]);
  const ofServer = ({ provider, model }: RouteTarget): string => keyOf(provider, model);
  const ofModel = ({ provider, model }: RouteTarget, named: string | undefined): string =>
    `model ${keyOf(provider, model ?? named)}`;
  return {
    of: (target, model) =>
      new Set([
        ...(known.get(ofServer(target)) ?? NONE),
        ...(known.get(ofModel(target, model)) ?? NONE),
      ]),
    add(target, model, part) {
      const key = OF_MODEL.has(part) ? ofModel(target, model) : ofServer(target);
      if (known.size >= MAX_REMEMBERED && !known.has(key)) return;
      known.set(key, new Set([...(known.get(key) ?? NONE), part]));
    },
  };
}
