/** `rate_limit.*` and other limits on requests: rate, size, concurrency. */
import { between, count, wholeNumber } from '../../../stages/settings/kind.ts';
import { isRaised, setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';

/** Body limit of `/v1*` unless the user sets a size: agent turns with images need it. */
const PROXIED_BODY_BYTES = 32 * 1024 * 1024;

export const limits = slice(
  {
    perMinute: setting('security.rate_limit_per_minute', {
      type: count('requests a minute'),
      default: 1000,
      about:
        'Requests a minute from one address; 0 sets no limit. If unset, `rate_limit.requests_per_second` applies.',
      loosens: (next, before) => isRaised(next || null, before || null),
    }),
    perSecond: setting('rate_limit.requests_per_second', {
      type: between(0.001, 1_000_000, 'requests a second,'),
      default: null,
      defaultText: 'no limit',
      about: 'Requests a second from one address, on average.',
      guarded: true,
    }),
    burst: setting('rate_limit.burst_size', {
      type: count('requests', 1),
      default: null,
      defaultText: 'one second of requests',
      about: 'Burst that one address may send before that average applies.',
      guarded: true,
    }),
    /** Shared limit of all bodies and messages that have not arrived in full. */
    maxBytesInFlight: setting('advanced.max_bytes_in_flight', {
      type: wholeNumber(1_048_576, 1_099_511_627_776, 'bytes,'),
      default: 536_870_912,
      about:
        'Most bytes buffered for all request bodies and WebSocket messages still arriving; beyond that a request gets 503.',
      loosens: isRaised,
    }),
    /** For our own endpoints. */
    maxRequestBytes: setting('advanced.max_request_size_bytes', {
      type: wholeNumber(1, 1_073_741_824, 'bytes,'),
      default: 10_485_760,
      about:
        'Largest request body, in bytes. If unset, requests under `/v1` may have 32 MB, which agents that send images need.',
      loosens: isRaised,
    }),
  },
  ({ perMinute, perSecond, burst, maxBytesInFlight, maxRequestBytes }, { origin }) => {
    // A user who sets only a rate does not expect the other limit to cap it.
    const hasMinute = perSecond === null || origin('perMinute').source !== 'default';
    const isSizeSet = origin('maxRequestBytes').source !== 'default';
    return {
      /** Per address; null for no limit. */
      requestsPerMinute: (hasMinute && perMinute) || null,
      /** The limit in its other form: a steady rate with bursts. */
      rate:
        perSecond === null
          ? null
          : { perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) },
      maxBytesInFlight,
      maxRequestBytes,
      maxProxiedRequestBytes: isSizeSet ? maxRequestBytes : PROXIED_BODY_BYTES,
    };
  },
);
