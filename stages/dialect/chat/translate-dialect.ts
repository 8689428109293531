/** The chat dialect's side of translation. */
import type { JsonObject } from '../canonical.ts';
import type { DialectTranslation } from '../translate-dialect.ts';
import { objectOf, objectsOf, stringOf } from '../translate-json.ts';
import { chatStreamOf } from './answer-stream.ts';
import {
  readChatError,
  readChatResponse,
  writeChatError,
  writeChatResponse,
} from './translate-answer.ts';
import { readChatRequest } from './translate-read.ts';
import { createChatReader } from './translate-stream-read.ts';
import { createChatWriter } from './translate-stream-write.ts';
import { writeChatRequest } from './translate-write.ts';

export const chatTranslation: DialectTranslation = Object.freeze({
  name: 'chat',
  midSystem: true,
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  wishes: (body: JsonObject) => ({
    includeUsage: objectOf(body.stream_options).include_usage === true,
    framing: 'sse' as const,
    freeformTools: objectsOf(body.tools).flatMap(({ type, custom }) =>
      type === 'custom' ? (stringOf(objectOf(custom).name) ?? []) : [],
    ),
    searchTools: [],
  }),
  streamOf: chatStreamOf,
  readResponse: readChatResponse,
  writeResponse: writeChatResponse,
  createReader: createChatReader,
  createWriter: createChatWriter,
  readError: readChatError,
  writeError: writeChatError,
});
