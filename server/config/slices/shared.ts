/** `shared.*`: state shared by several proxies. */
import { textKind } from '../../../stages/settings/kind.ts';
import { setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';
import { redisFault } from '../redis-address.ts';

export const shared = slice({
  redisUrl: setting('shared.redis_url', {
    type: textKind,
    default: null,
    defaultText: 'in this process',
    env: ['SVC_REDIS_URL'],
    about:
      'Redis server (`redis://` or `rediss://`) through which proxies share rate limits, key cooldowns, circuit breakers and the response cache. While it is unreachable, each proxy uses its own.',
    secret: true,
    guarded: true,
    needsRestart: true,
    refuse: refuseAddress,
  }),
});

function refuseAddress(address: string) {
  const reason = redisFault(address);
  return reason === undefined ? [] : [{ reason, expected: 'redis://host:6379' }];
}
