/** The paths of the responses dialect. */
import { compacting, counting, generating, passing } from '../../model/endpoint.ts';
import type { DialectEndpoints } from '../../model/endpoint.ts';

export const responsesEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {
    '/v1/responses': generating('responses', 'chat'),
    '/v1/responses/input_tokens': counting('responses', 'chat'),
    '/v1/responses/compact': compacting('responses', 'chat'),
  },
  other: (path) => (path.startsWith('/v1/responses/') ? passing('other', 'chat') : undefined),
});
