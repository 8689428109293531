/** Events of messages streams. */
import type { ErrorKind, SvcError } from '../../../engine/index.ts';
import { encodeEvent } from '../../wire/events.ts';
import { isObject, parseJson } from '../json-kind.ts';

/** Blocks that open empty: all of their content comes in deltas. */
const ANNOUNCED: ReadonlySet<unknown> = new Set(['text', 'thinking']);

/** Returns true for a delta, a finished block, or a block start that is not empty. */
export function isMessagesContent(event: string | undefined, data: string): boolean {
  const payload = parseJson(data);
  if (!isObject(payload)) return false;
  const type = payload['type'] ?? event;
  if (type === 'content_block_delta' || type === 'content_block_stop') return true;
  if (type !== 'content_block_start') return false;
  const block = payload['content_block'];
  return !isObject(block) || !ANNOUNCED.has(block['type']);
}

/** `message_stop` ends a stream. */
export function isMessagesTerminator(event: string | undefined, data: string): boolean {
  return event === 'message_stop' || /^\{\s*"type"\s*:\s*"message_stop"/.test(data);
}

/** The provider's own names for errors, which its clients act on. */
const ERROR_TYPES: Partial<Record<ErrorKind, string>> = {
  rate_limited: 'rate_limit_error',
  circuit_open: 'overloaded_error',
  unavailable: 'overloaded_error',
  gateway_timeout: 'timeout_error',
};

export function messagesErrorEvent(error: SvcError, requestId: string): Buffer {
  const body = {
    type: 'error',
    error: {
      type: ERROR_TYPES[error.kind] ?? 'api_error',
      message: error.message,
      ...(error.code === undefined ? {} : { code: error.code }),
    },
    request_id: requestId,
  };
  return encodeEvent('error', JSON.stringify(body));
}
