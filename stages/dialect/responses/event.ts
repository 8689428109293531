/** Events of responses streams. */
import type { SvcError } from '../../../engine/index.ts';
import { encodeEvent } from '../../wire/events.ts';
import { isObject, parseJson } from '../json-kind.ts';

/** Events that only announce; every other one of a response carries or finishes something. */
const ANNOUNCING = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.output_item.added',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
  'keepalive',
  'error',
  'response.failed',
]);

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/**
 * Returns true once some part of an output item arrives: a delta, a finished part, a tool's
 * progress.
 */
export function isResponsesContent(event: string | undefined, data: string): boolean {
  const type = typeOf(event, data);
  // Servers add events of their own about limits and connections, which are not part of the answer.
  return type?.startsWith('response.') === true && !ANNOUNCING.has(type);
}

/** A completed, incomplete or failed response ends a stream. */
export function isResponsesTerminator(event: string | undefined, data: string): boolean {
  const type = typeOf(event, data);
  return type !== undefined && TERMINAL.has(type);
}

function typeOf(event: string | undefined, data: string): string | undefined {
  if (event !== undefined) return event;
  const payload = parseJson(data);
  return isObject(payload) && typeof payload['type'] === 'string' ? payload['type'] : undefined;
}

/**
 * Returns a failed response, which ends a stream for every client; the official SDKs look at the
 * `error` beside it.
 */
export function responsesErrorEvent(error: SvcError, requestId: string): Buffer {
  const failure = { code: error.code ?? error.kind, message: error.message };
  const body = {
    type: 'response.failed',
    response: { id: requestId, object: 'response', status: 'failed', error: failure, output: [] },
    error: { ...failure, type: error.kind, param: null },
    request_id: requestId,
  };
  return encodeEvent('response.failed', JSON.stringify(body));
}
