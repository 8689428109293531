/** What is made smaller, how much, and how long that may take. */
import { isSwitchedOn, setting } from '../setting.ts';
import { count, flag, milliseconds, oneOf } from '../value.ts';

/** `compression.*`. */
export const compression = {
  'compression.enabled': setting({
    type: flag,
    default: true,
    env: ['SVC_COMPACT'],
    about: 'Master switch of all compression.',
  }),
  'compression.mode': setting({
    type: oneOf('strict', 'hybrid', 'aggressive'),
    default: 'hybrid',
    env: ['SVC_MODE'],
    about:
      '`strict` changes nothing; `hybrid` re-encodes and shortens tool output and pasted text; `aggressive` also code and config files.',
  }),
  'compression.max_chars': setting({
    type: count('characters', 1),
    default: 120,
    env: ['SVC_COMPACT_MAX_CHARS'],
    about:
      'Soft length of a narrative chunk, the unit that is kept or dropped whole, in characters.',
  }),
  'compression.threshold_tokens': setting({
    type: count('tokens'),
    default: 4500,
    env: ['SVC_COMPACT_THRESHOLD_TOKENS'],
    aliases: ['compression.min_tokens'],
    aliasesWin: true,
    about: 'A block is compressed once the tokens up to and including it reach this.',
  }),
  'compression.cache_size': setting({
    type: count('entries'),
    default: 2000,
    env: ['SVC_COMPACT_CACHE_SIZE'],
    needsRestart: true,
    about: 'Compressed blocks kept in memory. It changes speed only, never what is sent.',
  }),
  'compression.max_time_ms': setting({
    type: milliseconds,
    default: 5000,
    env: ['SVC_MAX_COMPRESSION_TIME_MS'],
    about: 'Milliseconds after which a block is sent as it was; 0 sets no limit.',
  }),
  'compression.log_budget_tokens': setting({
    type: count('tokens', 1),
    default: 3500,
    about:
      'Tokens to which a longer log is reduced: its ends, totals and failures first. Of a shorter one nothing is left out.',
  }),
  'compression.user_prose': setting({
    type: flag,
    default: false,
    about:
      'Shorten long prose in user messages too. Off, only pasted output of tools is re-encoded.',
  }),
  'compression.subscription_traffic': setting({
    type: flag,
    default: false,
    about:
      'Rewrite requests that carry a subscription token too. Off, they go through byte for byte.',
    loosens: isSwitchedOn,
  }),
  'compression.http100_keepalive': setting({
    type: flag,
    default: false,
    env: ['SVC_HTTP100_KEEPALIVE'],
    about: 'Send `100 Continue` before work that can take long.',
  }),
};
