/** The responses dialect's side of translation. Its errors outside a stream are those of chat. */
import { writeChatError } from '../chat/translate-answer.ts';
import type { CanonicalResponse, JsonObject } from '../canonical.ts';
import { gatherStream } from '../translate/answer.ts';
import { unreadableAnswer } from '../translate/errors.ts';
import { objectOf } from '../json-kind.ts';
import type { AnswerContext, DialectTranslation } from '../translate/dialect.ts';
import { responsesStreamOf } from './answer-stream.ts';
import { readResponsesError, writeResponsesResponse } from './translate-answer.ts';
import { readResponsesRequest } from './translate-read.ts';
import { ResponsesReader } from './translate-stream-read.ts';
import { ResponsesWriter } from './translate-stream-write.ts';
import { callForms } from './translate-tools.ts';
import { writeResponsesRequest } from './translate-write.ts';

export const responsesTranslation: DialectTranslation = Object.freeze({
  name: 'responses',
  systemPlace: () => 'anywhere' as const,
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  clientOptions: (body: JsonObject) => ({
    includeUsage: true,
    framing: 'sse' as const,
    ...callForms(body),
  }),
  streamOf: responsesStreamOf,
  readResponse: readResponsesResponse,
  writeResponse: writeResponsesResponse,
  Reader: ResponsesReader,
  Writer: ResponsesWriter,
  readError: readResponsesError,
  writeError: writeChatError,
});

/**
 * Reads a whole answer as its stream. Items of the provider's own tools are left out; the text
 * contains their result.
 */
function readResponsesResponse(body: unknown, context: AnswerContext): CanonicalResponse {
  const response = objectOf(body);
  const { output, status } = response;
  if (!Array.isArray(output)) throw unreadableAnswer('The provider sent no response');
  if (status === 'queued' || status === 'in_progress') {
    throw unreadableAnswer('The provider sent a response that is not finished');
  }
  // In a stream a failure is an error event, which has no place for the preceding output.
  const ended = status === 'failed' ? { ...response, status: 'cancelled' } : response;
  return gatherStream(new ResponsesReader(context), responsesStreamOf(ended));
}
