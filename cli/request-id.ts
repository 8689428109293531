/** Request ids as a running proxy knows them: the whole one where a part is typed. */
import { SvcError } from '../engine/error.ts';
import { pickId, shortId } from '../server/facts/find-request.ts';
import { readOwn } from './remote.ts';
import type { Json } from './remote.ts';

/**
 * The id of the request that `typed` is, begins or ends, among the newest.
 *
 * @throws SvcError `not_found` with the newest ids, `usage` where several fit.
 */
export async function resolveRequestId(home: string, typed: string): Promise<string> {
  const rows = await recentRequests(home);
  const ids = rows.map((row) => String(row['request_id']));
  const found = pickId(ids, typed);
  if (found !== undefined) return found;
  // A request that is no longer among the newest may still be known by its whole id.
  if (typed.startsWith('req_')) {
    const trace = await readOwn(home, `/trace/${encodeURIComponent(typed)}`).catch(() => undefined);
    if (trace !== undefined) return typed;
  }
  const newest = ids.slice(0, 5).map(shortId).join(', ');
  throw new SvcError('not_found', `There is no request '${typed}' among the newest`, {
    cure:
      newest === '' ? 'No request has gone through the proxy yet.' : `The newest are ${newest}.`,
  });
}

/** The rows of `/recent`, newest first. */
export async function recentRequests(home: string): Promise<readonly Json[]> {
  const { recent } = await readOwn(home, '/recent');
  return Array.isArray(recent) ? (recent as Json[]) : [];
}
