/** The chat dialect: OpenAI's `/v1/chat/completions` and the many servers that speak it. */
import type { Dialect } from '../../model/dialect.ts';
import { createObservers } from '../observe.ts';
import { chatErrorEvent, isChatContent, isChatTerminator } from './event.ts';
import { chatBlocks, chatFacts, validateChat } from './request.ts';
import { chatUsageRequest } from './usage-chunk.ts';
import { chatReader } from './usage.ts';

export const chatDialect: Dialect = Object.freeze<Dialect>({
  name: 'chat',
  validate: validateChat,
  facts: chatFacts,
  blocks: chatBlocks,
  observeUsage: createObservers(chatReader),
  isContent: isChatContent,
  isTerminator: isChatTerminator,
  errorEvent: chatErrorEvent,
  keyHeaders: (key) => ['authorization', `Bearer ${key}`],
  credentialHeaders: Object.freeze(['authorization', 'api-key']),
  requiredHeaders: [],
  models: { path: '/v1/models', member: 'data', next: () => undefined },
  usageRequest: chatUsageRequest,
});
