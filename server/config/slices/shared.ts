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
    about: 'Redis that shares rate limits, cooldowns, breakers and the response cache.',
    secret: true,
    guarded: true,
    needsRestart: true,
  }),
});
