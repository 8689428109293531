/** Who may come in, how often, how large, how long, and how much it may cost. */
import { asPath, isRaised, isSwitchedOff, setting } from '../setting.ts';
import {
  between,
  count,
  dollars,
  flag,
  listOf,
  oneOrMore,
  oneOf,
  path,
  seconds,
  secret,
  whole,
  words,
} from '../value.ts';

/** `security.*`. */
export const security = {
  'security.require_api_key': setting({
    type: flag,
    default: false,
    about: 'Require `X-Svc-Key` from this machine too.',
    loosens: isSwitchedOff,
  }),
  'security.api_key': setting({
    type: secret,
    default: null,
    env: ['SVC_API_KEY'],
    about:
      'Key that clients on other machines send as `X-Svc-Key`. `svc auth --generate` makes one.',
    secret: true,
    guarded: true,
  }),
  'security.allowed_origins': setting({
    type: oneOrMore(words, 'a list of origins, or *'),
    default: ['*'],
    guarded: true,
    about:
      'Web origins named in CORS answers. `*` lets none of them use the exemption of this machine.',
  }),
  'security.trust_browser_origins': setting({
    type: flag,
    default: false,
    about: 'Let any web page that you open use this proxy without a key. Dangerous.',
    guarded: true,
  }),
  'security.rate_limit_per_minute': setting({
    type: count('requests a minute'),
    default: 1000,
    about:
      'Requests a minute from one address; 0 sets no limit. Where it is not set, `rate_limit.requests_per_second` takes its place.',
    loosens: (next, before) => isRaised(next || null, before || null),
  }),
};

/** `rate_limit.*`: the same limit in its other form. */
export const rateLimit = {
  'rate_limit.requests_per_second': setting({
    type: between(0.001, 1_000_000, 'requests a second,'),
    default: null,
    defaultText: 'no limit',
    about: 'Requests a second from one address, on average.',
    guarded: true,
  }),
  'rate_limit.burst_size': setting({
    type: count('requests', 1),
    default: null,
    defaultText: 'one second of requests',
    about: 'Requests that one address may send at once before that average counts.',
    guarded: true,
  }),
};

/** `streaming.*`. */
export const streaming = {
  'streaming.enabled': setting({
    type: flag,
    default: true,
    about: 'Off: answers are fetched whole and sent as one short stream.',
  }),
  'streaming.formats': setting({
    type: listOf(oneOf('sse', 'chunked'), 'a list of sse and chunked'),
    default: ['sse', 'chunked'],
    about: 'Stream formats that a client may ask for.',
  }),
  'streaming.buffer_tokens': setting({
    type: whole(0, 100_000, 'tokens,'),
    default: 0,
    about: 'Tokens that are held back and sent together; 0 sends each event as it arrives.',
  }),
  'streaming.flush_interval_ms': setting({
    type: whole(1, 60_000, 'milliseconds,'),
    default: 500,
    about: 'Milliseconds after which held-back tokens are sent anyway.',
  }),
  'streaming.max_concurrent_streams': setting({
    type: count('streams', 1),
    default: 1000,
    about: 'Streams that may run at the same time; a further one gets 503.',
    loosens: isRaised,
  }),
};

/** `budget.*`: the spending guard. */
export const budget = {
  'budget.enabled': setting({
    type: flag,
    default: false,
    about: 'Refuse with 402 what would exceed one of the limits below.',
    loosens: isSwitchedOff,
  }),
  'budget.total_tokens': setting({
    type: count('tokens', 1),
    default: null,
    defaultText: 'no limit',
    about: 'Tokens that this proxy may use a day.',
    loosens: isRaised,
  }),
  'budget.per_request_usd': setting({
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about: 'US dollars that one request may cost, as estimated before it is sent.',
    loosens: isRaised,
  }),
  'budget.per_session_usd': setting({
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about:
      'US dollars that one session of a client, or one conversation, may cost. A restart remembers the sessions that a client names.',
    loosens: isRaised,
  }),
  'budget.per_day_usd': setting({
    type: dollars,
    default: null,
    defaultText: 'no limit',
    about: 'US dollars a day (UTC).',
    loosens: isRaised,
  }),
  'budget.warn_percent': setting({
    type: whole(1, 100, 'a percentage'),
    default: 80,
    about: 'Share of a limit from which a warning is given.',
  }),
};

/** `advanced.*`. */
export const advanced = {
  'advanced.vault_index_path': setting({
    type: path,
    default: null,
    defaultText: '`$SVC_HOME/.index`',
    env: ['SVC_VAULT_INDEX', 'VAULT_INDEX_PATH'],
    about: 'Folder of the vault index.',
    resolve: asPath,
    guarded: true,
    needsRestart: true,
  }),
  'advanced.enable_trace_logs': setting({
    type: flag,
    default: false,
    about: 'Write the trace of every request into the log, at level info.',
  }),
  'advanced.proxy_timeout_seconds': setting({
    type: seconds,
    default: 30,
    env: ['SVC_REQUEST_TIMEOUT'],
    about: 'Seconds for connecting to a provider and for the head of its answer; 0 sets no limit.',
  }),
  'advanced.idle_timeout_seconds': setting({
    type: seconds,
    default: 600,
    about: 'Seconds without a byte after which a running answer is aborted; 0 sets no limit.',
  }),
  'advanced.max_bytes_in_flight': setting({
    type: whole(1_048_576, 1_099_511_627_776, 'bytes,'),
    default: 536_870_912,
    about:
      'Bytes that all request bodies and WebSocket messages which have not arrived whole may hold together; beyond that a request gets 503.',
    loosens: isRaised,
  }),
  'advanced.max_request_size_bytes': setting({
    type: whole(1, 1_073_741_824, 'bytes,'),
    default: 10_485_760,
    about:
      'Largest request body, in bytes. Where it is not set, requests under `/v1` may have 32 MB, as agents with images need.',
    loosens: isRaised,
  }),
};
