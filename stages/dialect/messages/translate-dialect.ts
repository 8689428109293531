/** The messages dialect's side of translation. */
import type { CanonicalResponse } from '../canonical.ts';
import { gatherStream } from '../translate/answer.ts';
import { unreadableAnswer } from '../translate/errors.ts';
import { objectOf, objectsOf } from '../json-kind.ts';
import type { AnswerContext, DialectTranslation } from '../translate/dialect.ts';
import { messagesStreamOf } from './answer-stream.ts';
import {
  readMessagesError,
  writeMessagesError,
  writeMessagesResponse,
} from './translate-answer.ts';
import { readMessagesRequest } from './translate-read.ts';
import { MessagesReader } from './translate-stream-read.ts';
import { MessagesWriter } from './translate-stream-write.ts';
import { messagesSystemPlace, writeMessagesRequest } from './translate-write.ts';

export const messagesTranslation: DialectTranslation = Object.freeze({
  name: 'messages',
  systemPlace: messagesSystemPlace,
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  clientOptions: () => ({
    includeUsage: false,
    framing: 'sse' as const,
    freeformTools: [],
    searchTools: [],
  }),
  streamOf: messagesStreamOf,
  readResponse: readMessagesResponse,
  writeResponse: writeMessagesResponse,
  Reader: MessagesReader,
  Writer: MessagesWriter,
  readError: readMessagesError,
  writeError: writeMessagesError,
});

/**
 * Reads a whole answer as its stream. Blocks of the provider's own tools are left out; the text
 * contains their result.
 */
function readMessagesResponse(body: unknown, context: AnswerContext): CanonicalResponse {
  const message = objectOf(body);
  if (message.type !== 'message') throw unreadableAnswer('The provider sent no message');
  // A call without an input is one without arguments.
  const content = objectsOf(message.content).map((block) =>
    block.type === 'tool_use' ? { ...block, input: objectOf(block.input) } : block,
  );
  return gatherStream(new MessagesReader(context), messagesStreamOf({ ...message, content }));
}
