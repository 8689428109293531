/** Events of generative streams. */
import type { ErrorKind, SvcError } from '../../../engine/index.ts';
import { encodeEvent } from '../../wire/events.ts';
import { objectOf, objectsOf, parseJson } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';

/** Returns true if a candidate has a part other than empty text, or a finish reason. */
export function isGenerativeContent(_event: string | undefined, data: string): boolean {
  return candidatesOf(data).some((candidate) => {
    if (typeof candidate['finishReason'] === 'string') return true;
    return objectsOf(objectOf(candidate['content'])['parts']).some(({ text }) => text !== '');
  });
}

/** A finish reason, or a refused prompt, ends a stream: there is no event of its own for that. */
export function isGenerativeTerminator(_event: string | undefined, data: string): boolean {
  if (!/"(?:finishReason|blockReason)"/.test(data)) return false;
  const feedback = objectOf(objectOf(parseJson(data))['promptFeedback']);
  return (
    typeof feedback['blockReason'] === 'string' ||
    candidatesOf(data).some((candidate) => typeof candidate['finishReason'] === 'string')
  );
}

function candidatesOf(data: string): JsonObject[] {
  return objectsOf(objectOf(parseJson(data))['candidates']);
}

/** The provider's own pairs of code and name for errors. */
const STATUSES: Partial<Record<ErrorKind, readonly [code: number, status: string]>> = {
  rate_limited: [429, 'RESOURCE_EXHAUSTED'],
  bad_gateway: [502, 'UNAVAILABLE'],
  circuit_open: [503, 'UNAVAILABLE'],
  unavailable: [503, 'UNAVAILABLE'],
  gateway_timeout: [504, 'DEADLINE_EXCEEDED'],
};

export function generativeErrorEvent(error: SvcError, requestId: string): Buffer {
  const [code, status] = STATUSES[error.kind] ?? [500, 'INTERNAL'];
  const details = [
    { request_id: requestId, ...(error.code === undefined ? {} : { code: error.code }) },
  ];
  return encodeEvent(
    undefined,
    JSON.stringify({ error: { code, message: error.message, status, details } }),
  );
}
