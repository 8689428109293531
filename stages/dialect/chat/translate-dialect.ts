/** The chat dialect's side of translation. */
import type { CanonicalResponse, JsonObject } from '../canonical.ts';
import { gatherStream } from '../translate/answer.ts';
import type { AnswerContext, DialectTranslation } from '../translate/dialect.ts';
import { unreadableAnswer } from '../translate/errors.ts';
import { objectOf, objectsOf, stringOf } from '../json-kind.ts';
import { chatStreamOf } from './answer-stream.ts';
import { readChatError, writeChatError, writeChatResponse } from './translate-answer.ts';
import { readToolCall, writeToolCall } from './translate-message.ts';
import { readChatRequest } from './translate-read.ts';
import { ChatReader } from './translate-stream-read.ts';
import { ChatWriter } from './translate-stream-write.ts';
import { writeChatRequest } from './translate-write.ts';

export const chatTranslation: DialectTranslation = Object.freeze({
  name: 'chat',
  systemPlace: () => 'anywhere' as const,
  toolName: /^[a-zA-Z0-9_-]{1,64}$/,
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  clientOptions: (body: JsonObject) => ({
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
  Reader: ChatReader,
  Writer: ChatWriter,
  readError: readChatError,
  writeError: writeChatError,
});

/** Reads the first choice of a whole answer. */
function readChatResponse(body: unknown, context: AnswerContext): CanonicalResponse {
  const answer = objectOf(body);
  const choice = objectsOf(answer.choices)[0];
  if (choice === undefined) throw unreadableAnswer('The provider sent no choice');
  const message = objectOf(choice.message);
  // Whole calls: each is separate, whatever its number, and free text has become arguments.
  const calls = objectsOf(message.tool_calls).map((call, index) => ({
    ...writeToolCall(readToolCall(call)),
    index,
  }));
  const only = { ...choice, index: 0, message: { ...message, tool_calls: calls } };
  return gatherStream(new ChatReader(context), chatStreamOf({ ...answer, choices: [only] }));
}
