/** The generative dialect: Google's `generateContent` and `streamGenerateContent`. */
import type { Dialect } from '../../model/dialect.ts';
import { objectOf, stringOf } from '../json-kind.ts';
import { createObservers } from '../observe.ts';
import { generativeErrorEvent, isGenerativeContent, isGenerativeTerminator } from './event.ts';
import { generativeBlocks, generativeFacts, validateGenerative } from './request.ts';
import { generativeReader } from './usage.ts';

export const generativeDialect: Dialect = Object.freeze<Dialect>({
  name: 'generative',
  validate: validateGenerative,
  facts: generativeFacts,
  blocks: generativeBlocks,
  observeUsage: createObservers(generativeReader),
  isContent: isGenerativeContent,
  isTerminator: isGenerativeTerminator,
  errorEvent: generativeErrorEvent,
  keyHeaders: (key, scheme) =>
    scheme === 'bearer' ? ['authorization', `Bearer ${key}`] : ['x-goog-api-key', key],
  credentialHeaders: Object.freeze(['x-goog-api-key', 'authorization']),
  requiredHeaders: [],
  models: {
    path: '/v1beta/models?pageSize=1000',
    member: 'models',
    next(page) {
      const token = stringOf(objectOf(page)['nextPageToken']);
      return token ? ['pageToken', token] : undefined;
    },
  },
  isStreamInPath: true,
});
