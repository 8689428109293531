/** The dialects by name. */
import { chatDialect } from './chat/index.ts';
import type { Dialect, DialectName } from '../model/dialect.ts';
import { generativeDialect } from './generative/index.ts';
import { messagesDialect } from './messages/index.ts';
import { opaqueDialect } from './opaque/index.ts';
import { responsesDialect } from './responses/index.ts';

export const dialects: Readonly<Record<DialectName, Dialect>> = Object.freeze({
  messages: messagesDialect,
  chat: chatDialect,
  responses: responsesDialect,
  generative: generativeDialect,
  opaque: opaqueDialect,
});
