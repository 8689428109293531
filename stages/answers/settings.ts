/** `cache.*`: the response cache for repeated requests. */
import { flag, megabytes, oneOf, seconds } from '../settings/kind.ts';
import { setting, toBytes, toMs } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const cache = slice({
  enabled: setting('cache.enabled', {
    type: flag,
    default: true,
    about:
      'Answer from the cache where a request repeats and is deterministic by its own parameters.',
  }),
  type: setting('cache.type', {
    type: oneOf('memory', 'disk'),
    default: 'memory',
    about: 'Where answers are kept.',
    needsRestart: true,
  }),
  ttlMs: setting('cache.ttl_seconds', {
    type: seconds,
    default: 3600,
    about: 'Seconds for which an answer may be used again.',
    read: toMs,
  }),
  maxBytes: setting('cache.max_size_mb', {
    type: megabytes,
    default: 256,
    about: 'Megabytes that answers may take.',
    read: toBytes,
  }),
  eviction: setting('cache.eviction', {
    type: oneOf('lru'),
    default: 'lru',
    about: 'Which answer is removed to make room: the least recently used one.',
  }),
});
