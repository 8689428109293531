/** `providers.*` and `keys.*`: the upstream providers, built in and user-defined. */
import { ENDPOINT_KINDS } from '../model/endpoint.ts';
import { dollars, flag, kind, oneOf, seconds, secret, TEXT, textKind } from '../settings/kind.ts';
import type { Origin } from '../settings/setting.ts';
import { setting, toMs } from '../settings/setting.ts';
import { each, slice } from '../settings/slice.ts';
import type { SectionOf } from '../settings/slice.ts';
import type { ProviderKind } from './provider.ts';

/** The dialects of providers; `passthrough` forwards and never rewrites. */
export const PROVIDER_KINDS = [...ENDPOINT_KINDS, 'passthrough'] as const;

/** The public origin of each kind. A passthrough has none: the request's own path decides. */
export const PUBLIC_BASE_URLS: Readonly<Record<ProviderKind, string | null>> = {
  messages: 'https://api.anthropic.com',
  chat: 'https://api.openai.com',
  generative: 'https://generativelanguage.googleapis.com',
  passthrough: null,
};

/** A name that the user gives to a provider: it appears in paths, logs and metrics. */
export const PROVIDER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const HEADER_VALUE = /^[\u0020-\u007e]*$/;

const percentOfPlan = kind('1 <= number <= 100', 'a number from 1 to 100');

const named = each(
  'providers',
  {
    kind: setting('providers.<name>.kind', {
      type: oneOf(...PROVIDER_KINDS),
      default: null,
      defaultText: 'the name, for the four built-in ones',
      about:
        'The dialect of its API. Required for every new name. `passthrough` forwards requests by their path and never rewrites them.',
      guarded: true,
      example: 'chat',
    }),
    baseUrl: setting('providers.<name>.base_url', {
      type: textKind,
      default: null,
      defaultText: 'the public one of its kind',
      env: {
        messages: ['MSGPROV_BASE_URL'],
        chat: ['CHATPROV_BASE_URL'],
        generative: ['GENPROV_BASE_URL'],
      },
      about:
        'As the manual of the provider gives it: an origin with an optional path prefix, or the full address of an endpoint (`docs/providers.md`, Base URLs). `http:` only to this machine, unless `allow_insecure`.',
      guarded: true,
      example: 'http://127.0.0.1:11434',
    }),
    auth: setting('providers.<name>.auth', {
      type: oneOf('key', 'none'),
      default: 'key',
      about: '`none` for a server that needs no key, such as a local model.',
      guarded: true,
      example: 'none',
    }),
    apiKey: setting('providers.<name>.api_key', {
      type: secret,
      default: null,
      env: {
        messages: ['MSGPROV_API_KEY', 'ANTHROPIC_API_KEY'],
        chat: ['CHATPROV_API_KEY', 'OPENAI_API_KEY'],
        generative: ['GENPROV_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      },
      about: 'Key for requests that have none of their own, sent in the header of the kind.',
      secret: true,
      guarded: true,
    }),
    oauthToken: setting('providers.<name>.oauth_token', {
      type: secret,
      default: null,
      env: { messages: ['MSGPROV_OAUTH_TOKEN', 'ANTHROPIC_OAUTH_TOKEN'] },
      about: 'Second key of the rotation, sent as `Authorization: Bearer`.',
      secret: true,
      guarded: true,
    }),
    oauthToken2: setting('providers.<name>.oauth_token2', {
      type: secret,
      default: null,
      env: { messages: ['MSGPROV_OAUTH_TOKEN2', 'ANTHROPIC_OAUTH_TOKEN2'] },
      about: 'Third key of the rotation, sent as `Authorization: Bearer`.',
      secret: true,
      guarded: true,
    }),
    timeoutSeconds: setting('providers.<name>.timeout_seconds', {
      type: seconds,
      default: null,
      defaultText: '`advanced.proxy_timeout_seconds`',
      about: 'Seconds for connecting and for the head of the answer; 0 sets no limit.',
    }),
    idleTimeoutSeconds: setting('providers.<name>.idle_timeout_seconds', {
      type: seconds,
      default: null,
      defaultText: '`advanced.idle_timeout_seconds`',
      about: 'Seconds without a byte after which a running answer is aborted; 0 sets no limit.',
    }),
    supportsStreaming: setting('providers.<name>.supports_streaming', {
      type: flag,
      default: true,
      about: 'Off: its answers are fetched whole and forwarded as one short stream.',
    }),
    fallbackAtPercent: setting('providers.<name>.fallback_at_percent', {
      type: percentOfPlan,
      default: null,
      defaultText: 'never',
      about:
        'From this share of a plan’s window on (`svc limits`) requests go to the next provider of `routing.fallback` that answers them, until the window starts again.',
      example: 95,
    }),
    promptCache: setting('providers.<name>.prompt_cache', {
      type: oneOf('auto', 'on', 'off'),
      default: 'auto',
      about:
        'Whether it takes `cache_control` markers, or `prompt_cache_key` where its kind is `chat`, for `inject.cache_breakpoints`. `auto` knows by model and address.',
    }),
    allowInsecure: setting('providers.<name>.allow_insecure', {
      type: flag,
      default: false,
      about: 'Allow plain `http:` to another machine. Keys then travel unencrypted.',
      guarded: true,
    }),
    headers: setting('providers.<name>.headers', {
      type: kind({ '[string]': HEADER_VALUE }, 'a map of header names to values'),
      default: {},
      about: 'Headers added to every request to it.',
      secret: true,
      guarded: true,
      read: withoutPrototype,
    }),
    extraBody: setting('providers.<name>.extra_body', {
      type: kind({ '[string]': 'unknown' }, 'a map of body fields'),
      default: {},
      about: 'Fields added to every request body that does not have them.',
      guarded: true,
      read: withoutPrototype,
    }),
    modelAliases: setting('providers.<name>.model_aliases', {
      type: kind({ '[string]': TEXT }, 'a map of aliases to model names'),
      default: {},
      about: 'Other names for its models: alias to model.',
      guarded: true,
      read: withoutPrototype,
    }),
    /** US dollars per million tokens, if the user overrides the price table. */
    pricing: slice({
      inputUsdPerMTok: setting('providers.<name>.pricing.input_cost_per_1m_tokens', {
        type: dollars,
        default: null,
        defaultText: 'the price table',
        about: 'US dollars for a million input tokens, in place of the price table.',
        guarded: true,
      }),
      outputUsdPerMTok: setting('providers.<name>.pricing.output_cost_per_1m_tokens', {
        type: dollars,
        default: null,
        defaultText: 'the price table',
        about: 'US dollars for a million output tokens, in place of the price table.',
        guarded: true,
      }),
      ratesUsd: setting('providers.<name>.pricing.rates', {
        type: kind({ '[string]': '0 <= number <= 1000000000' }, 'a map of units to US dollars'),
        default: {},
        defaultText: 'the price table',
        about:
          'US dollars for a million of other units (`cache_read`, `cache_write`, `cache_write_1h`, `input_audio`, `output_image`, …), and for a thousand of `web_search` and `file_search`.',
        guarded: true,
        read: withoutPrototype,
      }),
      longContextUsd: setting('providers.<name>.pricing.long_context', {
        type: kind({ '[string]': '0 <= number <= 1000000000' }, 'a map of units to US dollars'),
        default: {},
        about:
          'The same for requests with more than `above` tokens of input, as in `{above: 200000, input: 6, output: 22.5}`.',
        guarded: true,
        read: withoutPrototype,
      }),
      terms: setting('providers.<name>.pricing.terms', {
        type: kind({ '[string]': '0 <= number <= 1000' }, 'a map of terms to factors'),
        default: {},
        defaultText: 'the price table',
        about:
          'Factors on every rate for tokens, by what the answer says of how it was served: `fast`, `flex`, `priority`, `batch`, `scale`, `us`, ….',
        guarded: true,
        read: withoutPrototype,
      }),
    }),
  },
  ({ kind: written, baseUrl, apiKey, oauthToken, oauthToken2, ...rest }, { name, origin }) => {
    // A name without a kind is one of the built-in ones; anything else was refused earlier.
    const dialect = written ?? (name as ProviderKind);
    const url = baseUrl ?? PUBLIC_BASE_URLS[dialect];
    return {
      ...rest,
      name,
      kind: dialect,
      /** Without a trailing slash; null for the built-in passthrough. */
      baseUrl: url === null ? null : url.replace(/(?<!\/)\/+$/, ''),
      /** In the order of rotation; empty when only clients bring keys. */
      keys: [
        ...toKey('api-key', apiKey, origin('apiKey'), `providers.${name}.api_key`),
        ...toKey('bearer', oauthToken, origin('oauthToken'), `providers.${name}.oauth_token`),
        ...toKey('bearer', oauthToken2, origin('oauthToken2'), `providers.${name}.oauth_token2`),
      ],
    };
  },
  PROVIDER_KINDS,
);

export const providers = slice(
  {
    timeoutSeconds: setting('advanced.proxy_timeout_seconds', {
      type: seconds,
      default: 30,
      env: ['SVC_REQUEST_TIMEOUT'],
      about:
        'Seconds for connecting to a provider and for the head of its answer; 0 sets no limit.',
    }),
    idleTimeoutSeconds: setting('advanced.idle_timeout_seconds', {
      type: seconds,
      default: 600,
      about: 'Seconds without a byte after which a running answer is aborted; 0 sets no limit.',
    }),
    named,
  },
  (all) => {
    const timed = Object.entries(all.named).map(
      ([name, { timeoutSeconds, idleTimeoutSeconds, ...provider }]) =>
        [
          name,
          {
            ...provider,
            /** For connecting and the head of the answer; null for no limit. */
            requestTimeoutMs: limitMs(timeoutSeconds ?? all.timeoutSeconds),
            /** Between two reads of a running answer; null for no limit. */
            idleTimeoutMs: limitMs(idleTimeoutSeconds ?? all.idleTimeoutSeconds),
          },
        ] as const,
    );
    return withoutPrototype(Object.fromEntries(timed));
  },
);

/** One provider, built in or named by the user. */
export type ProviderConfig = SectionOf<typeof providers>[string];

/** One configured key of a provider. */
export interface ConfiguredKey {
  /** `api-key` is sent in the header of the kind, `bearer` as `Authorization: Bearer`. */
  readonly scheme: 'api-key' | 'bearer';
  readonly secret: string;
  /** Safe to show: the variable or the setting it was read from. */
  readonly label: string;
}

function toKey(
  scheme: ConfiguredKey['scheme'],
  value: string | null,
  { source, where }: Origin,
  key: string,
): readonly ConfiguredKey[] {
  // One line of a file may have two keys.
  return value === null ? [] : [{ scheme, secret: value, label: source === 'file' ? key : where }];
}

/** 0 means no limit. Any other value is at least a millisecond. */
function limitMs(time: number): number | null {
  return time === 0 ? null : Math.max(1, Math.round(toMs(time)));
}

/** Returns the same map without a prototype, so that looking up `constructor` finds nothing. */
function withoutPrototype<T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, map);
}

/** `keys.*`: how configured keys are rotated. */
export const keys = slice({
  rotation: setting('keys.rotation', {
    type: oneOf('failover', 'roundrobin'),
    default: 'failover',
    env: ['SVC_KEY_ROTATION'],
    about: '`failover` moves on when a key fails; `roundrobin` takes the next key every time.',
    guarded: true,
  }),
  cooldown429Ms: setting('keys.cooldown_429_seconds', {
    type: seconds,
    default: 60,
    env: ['SVC_KEY_COOLDOWN_429'],
    about: 'Seconds for which a key is not used after a 429 without `Retry-After`.',
    guarded: true,
    read: toMs,
  }),
  cooldown401Ms: setting('keys.cooldown_401_seconds', {
    type: seconds,
    default: 300,
    env: ['SVC_KEY_COOLDOWN_401'],
    about: 'Seconds for which a configured key is not used after a 401.',
    guarded: true,
    read: toMs,
  }),
});
