/** `inject.*`: what is added to requests for the provider's benefit. */
import { oneOf } from '../settings/kind.ts';
import { setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const caching = slice({
  setsBreakpoints: setting('inject.cache_breakpoints', {
    type: oneOf('auto', 'off'),
    default: 'auto',
    env: ['SVC_CACHE_BREAKPOINTS'],
    about:
      'Let the provider cache what conversations repeat, for clients that ask for no caching themselves: from the second request on, `cache_control` markers for models that need them, `prompt_cache_key` where the provider is known to take it.',
    read: (when) => when === 'auto',
  }),
});
