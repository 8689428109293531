/** `shared.*`: state of several proxies in one place. */
import { words } from '../../../stages/settings/kind.ts';
import { setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';

export const shared = slice({
  redisUrl: setting('shared.redis_url', {
    type: words,
    default: null,
    defaultText: 'in this process',
    env: ['SVC_REDIS_URL'],
    about:
      'A value is refused: sharing rate limits, cooldowns, breakers and the response cache through Redis is not supported yet.',
    secret: true,
    guarded: true,
    // Who sets it counts on limits that hold for all proxies together; ignoring it would break them.
    refuse: () => [
      {
        reason:
          'sharing state through Redis is not supported by this version; each proxy keeps its own, so leave it out',
        expected: 'no value',
      },
    ],
  }),
});
