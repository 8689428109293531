/** The generative dialect's side of translation. */
import type { CanonicalResponse, JsonObject, WireEvent } from '../canonical.ts';
import { gatherStream } from '../translate/answer.ts';
import type { AnswerContext, DialectTranslation } from '../translate/dialect.ts';
import { exactJson } from '../exact-json.ts';
import { objectOf, objectsOf } from '../json-kind.ts';
import {
  readGenerativeError,
  writeGenerativeError,
  writeGenerativeResponse,
} from './translate-answer.ts';
import { readGenerativeTarget } from './translate-fields.ts';
import { readGenerativeRequest } from './translate-read.ts';
import { GenerativeReader } from './translate-stream-read.ts';
import { GenerativeWriter } from './translate-stream-write.ts';
import { writeGenerativeRequest } from './translate-write.ts';

export const generativeTranslation: DialectTranslation = Object.freeze({
  name: 'generative',
  systemPlace: () => 'nowhere' as const,
  toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  readRequest: readGenerativeRequest,
  writeRequest: writeGenerativeRequest,
  clientOptions: (body: JsonObject, target: string) => ({
    includeUsage: false,
    framing: readGenerativeTarget(target)?.events === true ? ('sse' as const) : ('array' as const),
    freeformTools: [],
    searchTools: [],
    place: Array.isArray(body.contents) ? body.contents.length : 1,
  }),
  streamOf: (answer: JsonObject) => [toWireEvent(answer)],
  readResponse: readGenerativeResponse,
  writeResponse: writeGenerativeResponse,
  Reader: GenerativeReader,
  Writer: GenerativeWriter,
  readError: readGenerativeError,
  writeError: writeGenerativeError,
});

/**
 * Reads a whole answer: one object, or the array of chunks of a stream without `alt=sse`. Both
 * consist of stream chunks, so the stream's reader reads them.
 */
function readGenerativeResponse(body: unknown, context: AnswerContext): CanonicalResponse {
  const chunks = Array.isArray(body) ? objectsOf(body) : [objectOf(body)];
  return gatherStream(new GenerativeReader(context), chunks.map(toWireEvent));
}

function toWireEvent(chunk: JsonObject): WireEvent {
  return { event: undefined, data: exactJson(chunk) };
}
