/** The responses dialect's side of translation. Its errors outside a stream are those of chat. */
import { writeChatError } from '../chat/translate-answer.ts';
import type { JsonObject } from '../canonical.ts';
import type { DialectTranslation } from '../translate-dialect.ts';
import {
  readResponsesError,
  readResponsesResponse,
  writeResponsesResponse,
} from './translate-answer.ts';
import { readResponsesRequest } from './translate-read.ts';
import { createResponsesReader } from './translate-stream-read.ts';
import { createResponsesWriter } from './translate-stream-write.ts';
import { callForms } from './translate-tools.ts';
import { writeResponsesRequest } from './translate-write.ts';

export const responsesTranslation: DialectTranslation = Object.freeze({
  name: 'responses',
  midSystem: true,
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  wishes: (body: JsonObject) => ({
    includeUsage: true,
    framing: 'sse' as const,
    ...callForms(body),
  }),
  readResponse: readResponsesResponse,
  writeResponse: writeResponsesResponse,
  createReader: createResponsesReader,
  createWriter: createResponsesWriter,
  readError: readResponsesError,
  writeError: writeChatError,
});
