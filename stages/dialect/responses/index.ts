/** The responses dialect: OpenAI's `/v1/responses`. */
import type { Dialect } from '../../model/dialect.ts';
import { createObservers } from '../observe.ts';
import { isResponsesContent, isResponsesTerminator, responsesErrorEvent } from './event.ts';
import { responsesBlocks, responsesFacts, validateResponses } from './request.ts';
import { responsesReader } from './usage.ts';

export const responsesDialect: Dialect = Object.freeze<Dialect>({
  name: 'responses',
  validate: validateResponses,
  facts: responsesFacts,
  blocks: responsesBlocks,
  observeUsage: createObservers(responsesReader),
  isContent: isResponsesContent,
  isTerminator: isResponsesTerminator,
  errorEvent: responsesErrorEvent,
  keyHeaders: (key) => ['authorization', `Bearer ${key}`],
  credentialHeaders: Object.freeze(['authorization', 'api-key']),
  requiredHeaders: [],
});
