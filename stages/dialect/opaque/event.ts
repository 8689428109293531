/** Events of streams that pass unread. */
import type { SvcError } from '../../../engine/index.ts';
import { encodeEvent } from '../../wire/events.ts';

/** An error event that both families of clients understand: a name for one, an `error` member for the other. */
export function opaqueErrorEvent(error: SvcError, requestId: string): Buffer {
  const code = error.code === undefined ? {} : { code: error.code };
  const body = {
    type: 'error',
    error: { type: error.kind, message: error.message, ...code },
    request_id: requestId,
  };
  return encodeEvent('error', JSON.stringify(body));
}
