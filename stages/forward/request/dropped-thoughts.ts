/**
 * The refusal of a request whose thoughts do not match what stands before them, in the messages
 * dialect: it is sent once more, and the provider is asked to leave these thoughts out. From then on
 * the conversation asks so from the start: the thoughts in it do not come to match again.
 */
import { isObject } from '../../dialect/json-kind.ts';
import { withParamAnyway } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';

/** Without it the provider does not know the setting. */
export const CONTROLS_BETA = 'thinking-binding-controls-2026-08-01';

/** True for a request that may be sent with its thoughts left out: it holds some, and says nothing of it itself. */
export function mayDropThoughts({ original }: ProxyRequest): boolean {
  if (original.endpoint.dialect !== 'messages' || !isObject(original.json)) return false;
  const { thinking } = original.json;
  if (!isObject(thinking)) return thinking === undefined || thinking === null;
  if (thinking['type'] === 'disabled') return false;
  const binding = thinking['block_binding'];
  return !isObject(binding) || binding['prefix_mismatch_behavior'] === undefined;
}

/** The request that asks the provider to leave out what does not match. */
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
