/** Reads a whole generative answer by way of its stream: both are made of the same chunks. */
import type { CanonicalResponse } from '../canonical.ts';
import { gatherEvents } from '../translate-answer.ts';
import type { AnswerContext } from '../translate-dialect.ts';
import { objectOf, objectsOf } from '../translate-json.ts';
import { createGenerativeReader } from './translate-stream-read.ts';

/**
 * Reads a whole answer: one object, or the array of chunks that a stream without
 * `alt=sse` is. Both are what a stream says, so the stream's reader reads them.
 */
export function readGenerativeResponse(body: unknown, context: AnswerContext): CanonicalResponse {
  const chunks = Array.isArray(body) ? objectsOf(body) : [objectOf(body)];
  const reader = createGenerativeReader(context);
  const events = chunks.flatMap((chunk) => [...reader.read({ data: JSON.stringify(chunk) })]);
  return gatherEvents([...events, ...reader.end()]);
}
