/** Resolves a typed part of a request id to the whole id, using the running proxy. */
import { SvcError } from '../engine/error.ts';
import { pickId, shortId } from '../server/facts/find-request.ts';
import { readOwn } from './remote.ts';
import type { Json } from './remote.ts';

/**
 * Returns the id among the newest requests that equals, begins with or ends with `typedId`.
 *
 * @throws SvcError `not_found` with the newest ids, `usage` if several match.
 */
export async function resolveRequestId(home: string, typedId: string): Promise<string> {
  const rows = await recentRequests(home);
  const ids = rows.map((row) => String(row['request_id']));
  const found = pickId(ids, typedId);
  if (found !== undefined) return found;
  // An older request may still be found by its whole id.
  if (typedId.startsWith('req_')) {
    const trace = await readOwn(home, `/trace/${encodeURIComponent(typedId)}`).catch(
      () => undefined,
    );
    if (trace !== undefined) return typedId;
  }
  const newest = ids.slice(0, 5).map(shortId).join(', ');
  throw new SvcError('not_found', `There is no request '${typedId}' among the newest`, {
    cure:
      newest === '' ? 'No request has gone through the proxy yet.' : `The newest are ${newest}.`,
  });
}

/** Returns the rows of `/recent`, newest first. */
export async function recentRequests(home: string): Promise<readonly Json[]> {
  const { recent } = await readOwn(home, '/recent');
  return Array.isArray(recent) ? (recent as Json[]) : [];
}
