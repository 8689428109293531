/** The messages dialect: Anthropic's `/v1/messages`. */
import type { Dialect } from '../../model/dialect.ts';
import { objectOf } from '../json-kind.ts';
import { createObservers } from '../observe.ts';
import { isMessagesContent, isMessagesTerminator, messagesErrorEvent } from './event.ts';
import { messagesBlocks, messagesFacts, validateMessages } from './request.ts';
import { messagesReader } from './usage.ts';

/** The only version of this dialect. */
const MESSAGES_VERSION = Object.freeze(['anthropic-version', '2023-06-01']);

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
  requiredHeaders: MESSAGES_VERSION,
  models: {
    path: '/v1/models?limit=1000',
    member: 'data',
    next(page) {
      const { has_more, last_id } = objectOf(page);
      return has_more === true && typeof last_id === 'string' ? ['after_id', last_id] : undefined;
    },
  },
});
