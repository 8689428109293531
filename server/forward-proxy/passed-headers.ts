/** The headers of a request or response that is passed through: all but ours. */
import { withoutHeaders } from '../../stages/model/headers.ts';

/**
 * Returns the headers as a flat list in their order, without those meant for svc or for a proxy.
 */
export function passedHeaders(fields: readonly string[]): readonly string[] {
  return withoutHeaders(
    fields,
    (name) => name.startsWith('x-svc-') || name === 'proxy-authorization',
  );
}
