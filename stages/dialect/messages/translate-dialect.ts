/** The messages dialect's side of translation. */
import type { DialectTranslation } from '../translate-dialect.ts';
import {
  readMessagesError,
  readMessagesResponse,
  writeMessagesError,
  writeMessagesResponse,
} from './translate-answer.ts';
import { readMessagesRequest } from './translate-read.ts';
import { createMessagesReader } from './translate-stream-read.ts';
import { createMessagesWriter } from './translate-stream-write.ts';
import { writeMessagesRequest } from './translate-write.ts';

export const messagesTranslation: DialectTranslation = Object.freeze({
  name: 'messages',
  midSystem: false,
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  wishes: () => ({
    includeUsage: false,
    framing: 'sse' as const,
    freeformTools: [],
    searchTools: [],
  }),
  readResponse: readMessagesResponse,
  writeResponse: writeMessagesResponse,
  createReader: createMessagesReader,
  createWriter: createMessagesWriter,
  readError: readMessagesError,
  writeError: writeMessagesError,
});
