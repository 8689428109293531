/** Rule 2 of the gate: requests that two readers could interpret differently. */
import type { GateRequest, HeaderScan } from './scan.ts';
import { isCleanTarget } from './target.ts';

/**
 * Returns what is wrong with the framing of a request. node's parser accepts several of these; the
 * next reader may interpret them differently.
 */
export function framingFault(request: GateRequest, scan: HeaderScan): string | undefined {
  const version = request.httpVersion;
  if (version !== '1.1' && version !== '1.0') return 'Only HTTP/1.0 and HTTP/1.1 are supported';
  if (scan.unclean) return 'A header field contains characters that are not allowed';
  if (scan.lengths > 1) return 'More than one Content-Length';
  if (scan.length !== undefined && !/^[0-9]{1,15}$/.test(scan.length)) {
    return 'Content-Length is not a number';
  }
  if (scan.codings > 0) {
    if (scan.codings > 1 || scan.coding?.toLowerCase() !== 'chunked') {
      return 'Transfer-Encoding is not exactly chunked';
    }
    if (scan.lengths > 0) return 'Both Content-Length and Transfer-Encoding';
    if (version === '1.0') return 'Transfer-Encoding under HTTP/1.0';
  }
  const target = request.url ?? '';
  if (target === '*') return request.method === 'OPTIONS' ? undefined : 'The target is malformed';
  return isCleanTarget(target) ? undefined : 'The target is malformed';
}
