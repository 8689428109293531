/** The messages dialect: Anthropic's `/v1/messages`. */
import type { Dialect } from '../../model/dialect.ts';
import { createObservers } from '../observe.ts';
import { isMessagesContent, isMessagesTerminator, messagesErrorEvent } from './event.ts';
import { messagesBlocks, messagesFacts, validateMessages } from './request.ts';
import { messagesReader } from './usage.ts';

export const messagesDialect: Dialect = Object.freeze<Dialect>({
  name: 'messages',
  validate: validateMessages,
  facts: messagesFacts,
  blocks: messagesBlocks,
  observeUsage: createObservers(messagesReader),
  isContent: isMessagesContent,
  isTerminator: isMessagesTerminator,
  errorEvent: messagesErrorEvent,
  keyHeaders: (key, scheme) =>
    scheme === 'bearer' ? ['authorization', `Bearer ${key}`] : ['x-api-key', key],
  credentialHeaders: Object.freeze(['x-api-key', 'authorization']),
});
