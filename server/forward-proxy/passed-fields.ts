/** The fields of a request or an answer that passes as it came: all of them but ours. */
import { withoutHeaders } from '../../stages/model/headers.ts';

/** Flat fields in their order, without those that are meant for svc or for a proxy. */
export function headersOnTheWay(fields: readonly string[]): readonly string[] {
  return withoutHeaders(
    fields,
    (name) => name.startsWith('x-svc-') || name === 'proxy-authorization',
  );
}
