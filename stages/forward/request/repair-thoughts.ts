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
  readonly removable: readonly Unsupported[];
  readonly notes: readonly string[];
}

const NONE: ThoughtRepair = Object.freeze({ rewrite: undefined, removable: [], notes: [] });

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
  const refused = sealed.filter(
    (thought) => unsupported.has(FOREIGN) || foreign.has(provider.name, thought),
  );
  const addsSignatures = mayLackSignature && unsupported.has(UNSIGNED);
  const removable: Unsupported[] = [];
  if (refused.length < sealed.length) removable.push(FOREIGN);
  if (mayLackSignature && !addsSignatures) removable.push(UNSIGNED);
  const notes: string[] = [];
  if (refused.length > 0)
    notes.push(
      `${refused.length} ${refused.length === 1 ? 'thought' : 'thoughts'} left out: another account or model sealed them`,
    );
  if (addsSignatures)
    notes.push('calls of another model are sent with the signature that is valid for any call');
  const rewrite = (bytes: Buffer): Buffer => {
    const kept = refused.length === 0 ? bytes : withoutThoughts(bytes, refused);
    return addsSignatures ? withSignatures(kept, request) : kept;
  };
  return { rewrite: refused.length > 0 || addsSignatures ? rewrite : undefined, removable, notes };
}
