/** `cache.*`: the response cache for repeated requests. */
import { flag, megabytes, oneOf, seconds } from '../settings/kind.ts';
import { setting, toBytes, toMs } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const cache = slice({
  enabled: setting('cache.enabled', {
    type: flag,
    default: true,
    about: 'Answer repeated requests from the cache if their parameters make them deterministic.',
  }),
  type: setting('cache.type', {
    type: oneOf('memory', 'disk'),
    default: 'memory',
    about: 'Where cached answers are stored.',
    needsRestart: true,
  }),
  ttlMs: setting('cache.ttl_seconds', {
    type: seconds,
    default: 3600,
    about: 'Seconds for which an answer may be reused.',
    read: toMs,
  }),
  maxBytes: setting('cache.max_size_mb', {
    type: megabytes,
    default: 256,
    about: 'Maximum megabytes of cached answers.',
    read: toBytes,
  }),
  eviction: setting('cache.eviction', {
    type: oneOf('lru'),
    default: 'lru',
    about: 'Which answer is removed to make room: the least recently used one.',
  }),
});
