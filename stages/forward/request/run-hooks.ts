/** Lets a provider that is code change its own requests and answers. */
import { hookRequest, hookResponse } from '../../providers/hooks.ts';
import type { HookOwner } from '../../providers/hooks.ts';
import { headerValue } from '../../model/headers.ts';
import type { ProxyRequest } from '../../model/request.ts';
import type { Provider } from '../../providers/provider.ts';
import type { UpstreamRequest } from '../../providers/upstream.ts';
import type { Services } from '../../services.ts';
import type { Prepared } from './prepared.ts';

/**
 * Returns whose hooks see this exchange; content that is forwarded without being parsed is never
 * changed.
 */
export function hookOwner(
  request: ProxyRequest,
  { name, hooks }: Provider,
  { clock }: Services,
): HookOwner | undefined {
  const isSeen = hooks !== undefined && request.original.endpoint.operation === 'generate';
  return isSeen ? { name, hooks, clock } : undefined;
}

/** Returns the same preparation with the hooks on both ends. */
export function withHooks(prepared: Prepared, owner: HookOwner): Prepared {
  return {
    ...prepared,
    wire(key, signal) {
      const wire = prepared.wire(key, signal);
      return hookRequest(owner, wire, () => parsedBody(wire, prepared.request));
    },
    transformResponse: (response) => hookResponse(owner, response),
  };
}

/** A body that is sent unchanged may still be encoded. */
function parsedBody(wire: UpstreamRequest, { original }: ProxyRequest): unknown {
  const isEncoded = headerValue(wire.headers, 'content-encoding') !== undefined;
  const bytes = isEncoded ? original.body.bytes : wire.body;
  return JSON.parse(bytes?.toString('utf8') ?? 'null');
}
