/** The paths of the messages dialect. */
import { counting, generating, passing, passingConversation } from '../../model/endpoint.ts';
import type { DialectEndpoints } from '../../model/endpoint.ts';

export const messagesEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {
    '/v1/messages': generating('messages', 'messages'),
    '/v1/messages/count_tokens': counting('messages', 'messages'),
  },
  other(path, method) {
    if (!path.startsWith('/v1/messages/')) return undefined;
    const isBatch = method === 'POST' && path === '/v1/messages/batches';
    return isBatch ? passingConversation('other', 'messages') : passing('other', 'messages');
  },
});
