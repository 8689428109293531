/**
 * Heads made by a plugin: only what HTTP can carry, and no announced length of a body that the
 * plugin does not control.
 */
import type { HeadFrame } from '../stages/model/frame.ts';
import { isHopByHop, withoutHeaders } from '../stages/model/headers.ts';

/** Field names and values (RFC 9110 §5.1, §5.5). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns the head itself, unless it has to be changed. Throws for one that cannot be sent. */
export function checkedHead(head: HeadFrame): HeadFrame {
  const { status, headers } = head as { readonly status: unknown; readonly headers: unknown };
  if (!isStatus(status))
    throw new TypeError(`its answer has the status ${String(status)}; 200 to 999 can be sent`);
  if (!Array.isArray(headers) || headers.length % 2 !== 0)
    throw new TypeError('the headers of its answer are not a list of names and values');
  for (const [index, text] of headers.entries()) {
    const pattern = index % 2 === 0 ? NAME : VALUE;
    if (typeof text !== 'string' || !pattern.test(text))
      throw new TypeError(`a header of its answer cannot be sent: ${JSON.stringify(text)}`);
  }
  const isFraming = (name: string): boolean => name === 'content-length' || isHopByHop(name);
  if (!head.headers.some((text, index) => index % 2 === 0 && isFraming(text.toLowerCase())))
    return head;
  return { ...head, headers: withoutHeaders(head.headers, isFraming) };
}

function isStatus(status: unknown): boolean {
  return typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 999;
}
