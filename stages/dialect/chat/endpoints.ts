/** The paths of the chat dialect, and other paths of the same providers. */
import {
  generationEndpoint,
  opaqueEndpoint,
  opaqueConversationEndpoint,
} from '../../model/endpoint.ts';
import type { DialectEndpoints } from '../../model/endpoint.ts';

export const chatEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {
    '/v1/chat/completions': generationEndpoint('chat', 'chat'),
    '/v1/completions': opaqueConversationEndpoint('completions', 'chat'),
    '/v1/embeddings': opaqueEndpoint('embeddings', 'chat'),
  },
  gets: { '/v1/chat/completions': opaqueEndpoint('other', 'chat') },
});
