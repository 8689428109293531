/** What is added to requests beside the user's own files. */
import { setting } from '../setting.ts';
import { oneOf } from '../value.ts';

/** `inject.*`. */
export const inject = {
  'inject.cache_breakpoints': setting({
    type: oneOf('auto', 'off'),
    default: 'auto',
    env: ['SVC_CACHE_BREAKPOINTS'],
    about:
      'Let the provider cache what conversations repeat, for clients that ask for no caching themselves: from the second request on, `cache_control` markers for models that need them, `prompt_cache_key` where the provider is known to take it.',
  }),
};
