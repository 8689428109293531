/**
 * The head of an answer as sent to the client: the provider's, less what belongs to that
 * connection.
 */
import type { HeadFrame } from '../../model/frame.ts';
import { contentType, isPlain, ofConnection, withoutHeaders } from '../../model/headers.ts';
import { withRoute } from '../../model/request.ts';
import type { UpstreamResponse } from '../../providers/upstream.ts';
import type { AttemptScope } from '../attempt-scope.ts';
import type { Prepared } from '../request/prepared.ts';

/** Returns the head of an answer passed through. For a translated one see `translated.ts`. */
export function toHead(
  prepared: Prepared,
  response: UpstreamResponse,
  scope: AttemptScope,
): HeadFrame {
  const { request, reading, provider } = prepared;
  const isOfConnection = ofConnection(response.headers);
  const streaming = contentType(response.headers).startsWith('text/event-stream');
  const changesLength = streaming && reading.how === 'passthrough' && reading.added !== undefined;
  const { route } = request;
  return Object.freeze({
    kind: 'head',
    status: response.status,
    headers: withoutHeaders(
      response.headers,
      (name) =>
        isOfConnection(name) || isOurs(name) || (changesLength && name === 'content-length'),
    ),
    request:
      route === undefined || route.provider === provider.name
        ? request
        : withRoute(request, { ...route, provider: provider.name }),
    attempts: scope.attempts,
    streaming,
    observer: mustEnd(prepared, response, streaming)
      ? prepared.dialect.observeUsage(true)
      : undefined,
  });
}

/**
 * Headers that only this proxy may set, and the one that would clear the browser's storage for its
 * origin.
 */
function isOurs(name: string): boolean {
  return name.startsWith('x-svc-') || name === 'clear-site-data';
}

/**
 * Returns true if the answer is a stream, of events or as one list, whose truncation can be
 * detected.
 */
function mustEnd({ request, dialect }: Prepared, response: UpstreamResponse, isEvents: boolean) {
  // A redirect, or a status without a body, is complete without a stream.
  if (response.status >= 300 || response.status === 204 || !isPlain(response)) return false;
  return isEvents || (dialect.isStreamInPath && request.original.facts.stream);
}
