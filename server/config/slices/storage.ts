/** What is kept: the ledger, cached answers, captures, and state shared by a fleet. */
import { isSwitchedOn, setting } from '../setting.ts';
import { count, days, flag, oneOf, path, seconds, words } from '../value.ts';

/** `ledger.*`. */
export const ledger = {
  'ledger.db': setting({
    type: path,
    default: null,
    defaultText: '`$SVC_HOME/monitor.db`',
    env: ['SVC_DB'],
    about: 'The ledger: path of an SQLite file. A database server is not supported yet.',
    // A URL may hold a password; a plain path is shown (see redact.ts).
    secret: true,
    resolve: (value, absolute) => (isPostgresUrl(value) ? value : absolute(value)),
    guarded: true,
    needsRestart: true,
  }),
};

/** `cache.*`: answers kept for requests that repeat. */
export const cache = {
  'cache.enabled': setting({
    type: flag,
    default: true,
    about:
      'Answer from the cache where a request repeats and is deterministic by its own parameters.',
  }),
  'cache.type': setting({
    type: oneOf('memory', 'disk'),
    default: 'memory',
    about: 'Where answers are kept.',
    needsRestart: true,
  }),
  'cache.ttl_seconds': setting({
    type: seconds,
    default: 3600,
    about: 'Seconds for which an answer may be used again.',
  }),
  'cache.max_size_mb': setting({
    type: count('megabytes'),
    default: 256,
    about: 'Megabytes that answers may take.',
  }),
  'cache.eviction': setting({
    type: oneOf('lru'),
    default: 'lru',
    about: 'Which answer is removed to make room: the least recently used one.',
  }),
};

/** `capture.*`: whole exchanges, kept for replay. */
export const capture = {
  'capture.enabled': setting({
    type: flag,
    default: false,
    about: 'Keep requests and answers on disk for `svc replay`. They contain your prompts.',
    loosens: isSwitchedOn,
  }),
  'capture.max_mb': setting({
    type: count('megabytes'),
    default: 256,
    about: 'Megabytes that captures may take; the oldest make room.',
  }),
  'capture.retention_days': setting({
    type: days,
    default: 7,
    about: 'Days after which a capture is deleted.',
  }),
};

/** `shared.*`: state of several proxies in one place. */
export const shared = {
  'shared.redis_url': setting({
    type: words,
    default: null,
    defaultText: 'in this process',
    env: ['SVC_REDIS_URL'],
    about: 'Redis that shares rate limits, cooldowns, breakers and the response cache.',
    secret: true,
    guarded: true,
    needsRestart: true,
  }),
};

/** True when the ledger is a Postgres database and not a file. */
export function isPostgresUrl(value: string): boolean {
  return /^postgres(ql)?:\/\//.test(value);
}
