/**
 * The dialect of everything that is forwarded without being parsed: only the upstream judges it.
 */
import type { SvcError } from '../../../engine/index.ts';
import { KEY_FIELDS } from '../../model/headers.ts';
import { encodeEvent } from '../../wire/events.ts';
import { UNREAD_FACTS } from '../../model/dialect.ts';
import type { Dialect, RequestFacts } from '../../model/dialect.ts';
import { modelInPath } from '../../model/target.ts';
import { createObservers } from '../observe.ts';
import { opaqueReader } from './usage.ts';

export const opaqueDialect: Dialect = Object.freeze<Dialect>({
  name: 'opaque',
  validate: () => undefined,
  facts: (_body, target) => toFacts(target),
  blocks: () => [],
  observeUsage: createObservers(opaqueReader),
  // Unknown, so the first byte is taken as content.
  isContent: () => true,
  isTerminator: () => false,
  errorEvent: toErrorEvent,
  keyHeaders: (key) => ['authorization', `Bearer ${key}`],
  credentialHeaders: KEY_FIELDS,
  requiredHeaders: [],
});

/** The path may name a model; the body is not decoded, so it says nothing. */
function toFacts(target: string): RequestFacts {
  return Object.freeze({ ...UNREAD_FACTS, model: modelInPath(target) });
}

/**
 * Returns an error event that both families of clients understand: a name for one, an `error`
 * member for the other.
 */
function toErrorEvent(error: SvcError, requestId: string): Buffer {
  const code = error.code === undefined ? {} : { code: error.code };
  const body = {
    type: 'error',
    error: { type: error.kind, message: error.message, ...code },
    request_id: requestId,
  };
  return encodeEvent('error', JSON.stringify(body));
}
