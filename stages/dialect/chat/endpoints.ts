/** The paths of the chat dialect, and other paths of the same providers. */
import { generating, passing, passingConversation } from '../../model/endpoint.ts';
import type { DialectEndpoints } from '../../model/endpoint.ts';

export const chatEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {
    '/v1/chat/completions': generating('chat', 'chat'),
    '/v1/completions': passingConversation('completions', 'chat'),
    '/v1/embeddings': passing('embeddings', 'chat'),
  },
  gets: { '/v1/chat/completions': passing('other', 'chat') },
});
