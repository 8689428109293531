/** The paths of the messages dialect. */
import {
  countingEndpoint,
  generationEndpoint,
  opaqueEndpoint,
  opaqueConversationEndpoint,
} from '../../model/endpoint.ts';
import type { DialectEndpoints } from '../../model/endpoint.ts';

export const messagesEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {
    '/v1/messages': generationEndpoint('messages', 'messages'),
    '/v1/messages/count_tokens': countingEndpoint('messages', 'messages'),
  },
  other(path, method) {
    if (!path.startsWith('/v1/messages/')) return undefined;
    const isBatch = method === 'POST' && path === '/v1/messages/batches';
    return isBatch
      ? opaqueConversationEndpoint('other', 'messages')
      : opaqueEndpoint('other', 'messages');
  },
});
