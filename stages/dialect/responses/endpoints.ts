/** The paths of the responses dialect. */
import {
  compactionEndpoint,
  countingEndpoint,
  generationEndpoint,
  opaqueEndpoint,
} from '../../model/endpoint.ts';
import type { DialectEndpoints } from '../../model/endpoint.ts';

export const responsesEndpoints: DialectEndpoints = Object.freeze<DialectEndpoints>({
  posts: {
    '/v1/responses': generationEndpoint('responses', 'chat'),
    '/v1/responses/input_tokens': countingEndpoint('responses', 'chat'),
    '/v1/responses/compact': compactionEndpoint('responses', 'chat'),
  },
  other: (path) =>
    path.startsWith('/v1/responses/') ? opaqueEndpoint('other', 'chat') : undefined,
});
