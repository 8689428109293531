/**
 * Handles the refusal of a request whose thinking blocks do not match what precedes them, in the
 * messages dialect: it is sent again, asking the provider to drop these blocks. From then on the
 * conversation asks for that from the start: its blocks will never match again.
 */
import { isObject } from '../../dialect/json-kind.ts';
import { withParamAnyway } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';

/** Without it the provider does not accept the setting. */
export const CONTROLS_BETA = 'thinking-binding-controls-2026-08-01';

/**
 * Returns true for a request that may be sent without its thinking blocks: it has some, and does
 * not set this itself.
 */
export function mayDropThoughts({ original }: ProxyRequest): boolean {
  if (original.endpoint.dialect !== 'messages' || !isObject(original.json)) return false;
  const { thinking } = original.json;
  if (!isObject(thinking)) return thinking === undefined || thinking === null;
  if (thinking['type'] === 'disabled') return false;
  const binding = thinking['block_binding'];
  return !isObject(binding) || binding['prefix_mismatch_behavior'] === undefined;
}

/** Returns the request that asks the provider to drop blocks that do not match. */
export function withoutMismatches(request: ProxyRequest): ProxyRequest {
  const { json } = request.original;
  const { params } = request.edits;
  const own = isObject(json) ? json['thinking'] : undefined;
  const thinking = params.has('thinking') ? params.get('thinking') : own;
  return withParamAnyway(request, 'thinking', {
    ...(isObject(thinking) ? thinking : { type: 'adaptive' }),
    block_binding: { prefix_mismatch_behavior: 'drop_block' },
  });
}
