/** Adapts thinking in a request of the provider's own dialect that the provider may not accept. */
import type { Unsupported } from '../../dialect/translate/translate.ts';
import { isRewritable } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';
import {
  FOREIGN,
  UNSIGNED,
  hasUnsignedCalls,
  sealedIn,
  withSignatures,
  withoutThoughts,
} from './foreign-thoughts.ts';
import type { PrepareOptions } from './prepared.ts';

/** The repair, and what could also be repaired if the provider refuses the request. */
export interface ThoughtRepair {
  readonly rewrite: ((bytes: Buffer) => Buffer) | undefined;
  readonly spare: readonly Unsupported[];
  readonly notes: readonly string[];
}

const NONE: ThoughtRepair = Object.freeze({ rewrite: undefined, spare: [], notes: [] });

/**
 * Removes what this provider has refused, before or now; nothing from a request that must be sent
 * unchanged.
 */
export function repairThoughts(
  request: ProxyRequest,
  { provider, unsupported, foreign }: Pick<PrepareOptions, 'provider' | 'unsupported' | 'foreign'>,
): ThoughtRepair {
  if (!isRewritable(request)) return NONE;
  const sealed = sealedIn(request);
  const mayLackSignature = hasUnsignedCalls(request);
  if (sealed.length === 0 && !mayLackSignature) return NONE;
  const left = sealed.filter(
    (thought) => unsupported.has(FOREIGN) || foreign.has(provider.name, thought),
  );
  const adds = mayLackSignature && unsupported.has(UNSIGNED);
  const spare: Unsupported[] = [];
  if (left.length < sealed.length) spare.push(FOREIGN);
  if (mayLackSignature && !adds) spare.push(UNSIGNED);
  const notes: string[] = [];
  if (left.length > 0)
    notes.push(
      `${left.length} ${left.length === 1 ? 'thought' : 'thoughts'} left out: another account or model sealed them`,
    );
  if (adds) notes.push('calls of another model go with the signature that any call may have');
  const rewrite = (bytes: Buffer): Buffer => {
    const kept = left.length === 0 ? bytes : withoutThoughts(bytes, left);
    return adds ? withSignatures(kept, request) : kept;
  };
  return { rewrite: left.length > 0 || adds ? rewrite : undefined, spare, notes };
}
