/**
 * What single providers refuse that others of their kind take. Nothing states it beforehand, so it
 * is found out by asking: an error answer that names the thing makes the request go out once more
 * without it, and where that went well the next ones go out so at once.
 */
import type { Unsupported } from '../../dialect/translate/translate.ts';
import type { RouteTarget } from '../../model/request.ts';

/** What is known of each provider and model, for the life of the process. `model` is the one that the request names. */
export interface KnownUnsupported {
  of(target: RouteTarget, model: string | undefined): ReadonlySet<Unsupported>;
  add(target: RouteTarget, model: string | undefined, part: Unsupported): void;
}

/** What models of one provider differ in; the rest is a matter of its server. */
const OF_MODEL: ReadonlySet<Unsupported> = new Set(['instructions in the middle']);

const NONE: ReadonlySet<Unsupported> = new Set();
/** Clients choose the names of models; what is not kept is found out again. */
const MOST_KEPT = 1000;

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
      if (known.size >= MOST_KEPT && !known.has(key)) return;
      known.set(key, new Set([...(known.get(key) ?? NONE), part]));
    },
  };
}
