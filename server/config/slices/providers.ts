/** The upstream providers: the built-in ones and those that the user names. */
import { isRaised, setting } from '../setting.ts';
import {
  anything,
  count,
  dollars,
  flag,
  listOf,
  mapOf,
  matching,
  oneOf,
  path,
  seconds,
  secret,
  shape,
  words,
} from '../value.ts';
import type { ValueType } from '../value.ts';

/** The languages that a provider can speak. */
export const PROVIDER_KINDS = ['messages', 'chat', 'generative', 'passthrough'] as const;

/** A provider's language; `passthrough` forwards and never rewrites. */
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** The public origin of each kind. A passthrough has none: the request's own path decides. */
export const PUBLIC_BASE_URLS: Readonly<Record<ProviderKind, string | null>> = {
  messages: 'https://api.anthropic.com',
  chat: 'https://api.openai.com',
  generative: 'https://generativelanguage.googleapis.com',
  passthrough: null,
};

/** A name that the user gives to a provider: it appears in paths, logs and metrics. */
export const PROVIDER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const HEADER_VALUE = matching(/^[\u0020-\u007e]*$/, 'a header value of visible ASCII');

/** `providers.<name>.*`. */
export const providers = {
  'providers.<name>.kind': setting({
    type: oneOf(...PROVIDER_KINDS),
    default: null,
    defaultText: 'the name, for the four built-in ones',
    about:
      'The dialect of its API. Required for every new name. `passthrough` forwards requests by their path and never rewrites them.',
    guarded: true,
  }),
  'providers.<name>.base_url': setting({
    type: words,
    default: null,
    defaultText: 'the public one of its kind',
    about:
      'Origin with an optional path prefix, to which the path of the request is appended. `http:` only to this machine, unless `allow_insecure`.',
    guarded: true,
  }),
  'providers.<name>.auth': setting({
    type: oneOf('key', 'none'),
    default: 'key',
    about: '`none` for a server that needs no key, such as a local model.',
    guarded: true,
  }),
  'providers.<name>.api_key': setting({
    type: secret,
    default: null,
    about: 'Key for requests that have none of their own, sent in the header of the kind.',
    secret: true,
    guarded: true,
  }),
  'providers.<name>.oauth_token': setting({
    type: secret,
    default: null,
    about: 'Second key of the rotation, sent as `Authorization: Bearer`.',
    secret: true,
    guarded: true,
  }),
  'providers.<name>.oauth_token2': setting({
    type: secret,
    default: null,
    about: 'Third key of the rotation, sent as `Authorization: Bearer`.',
    secret: true,
    guarded: true,
  }),
  'providers.<name>.timeout_seconds': setting({
    type: seconds,
    default: null,
    defaultText: '`advanced.proxy_timeout_seconds`',
    about: 'Seconds for connecting and for the head of the answer; 0 sets no limit.',
  }),
  'providers.<name>.idle_timeout_seconds': setting({
    type: seconds,
    default: null,
    defaultText: '`advanced.idle_timeout_seconds`',
    about: 'Seconds without a byte after which a running answer is aborted; 0 sets no limit.',
  }),
  'providers.<name>.supports_streaming': setting({
    type: flag,
    default: true,
    about: 'Off: its answers are fetched whole and forwarded as one short stream.',
  }),
  'providers.<name>.prompt_cache': setting({
    type: oneOf('auto', 'on', 'off'),
    default: 'auto',
    about:
      'Whether it takes `cache_control` markers, or `prompt_cache_key` where its kind is `chat`, for `inject.cache_breakpoints`. `auto` knows by model and address.',
  }),
  'providers.<name>.allow_insecure': setting({
    type: flag,
    default: false,
    about: 'Allow plain `http:` to another machine. Keys then travel unencrypted.',
    guarded: true,
  }),
  'providers.<name>.headers': setting({
    type: mapOf(HEADER_VALUE, 'a map of header names to values'),
    default: {},
    about: 'Headers added to every request to it.',
    secret: true,
    guarded: true,
  }),
  'providers.<name>.extra_body': setting({
    type: mapOf(anything, 'a map of body fields'),
    default: {},
    about: 'Fields added to every request body that does not have them.',
    guarded: true,
  }),
  'providers.<name>.model_aliases': setting({
    type: mapOf(words, 'a map of aliases to model names'),
    default: {},
    about: 'Other names for its models: alias to model.',
    guarded: true,
  }),
  'providers.<name>.pricing.input_cost_per_1m_tokens': setting({
    type: dollars,
    default: null,
    defaultText: 'the price table',
    about: 'US dollars for a million input tokens, in place of the price table.',
    guarded: true,
  }),
  'providers.<name>.pricing.output_cost_per_1m_tokens': setting({
    type: dollars,
    default: null,
    defaultText: 'the price table',
    about: 'US dollars for a million output tokens, in place of the price table.',
    guarded: true,
  }),
};

/** The variables of the built-in providers, strongest first. */
export const PROVIDER_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'providers.messages.api_key': ['MSGPROV_API_KEY', 'ANTHROPIC_API_KEY'],
  'providers.messages.oauth_token': ['MSGPROV_OAUTH_TOKEN', 'ANTHROPIC_OAUTH_TOKEN'],
  'providers.messages.oauth_token2': ['MSGPROV_OAUTH_TOKEN2', 'ANTHROPIC_OAUTH_TOKEN2'],
  'providers.messages.base_url': ['MSGPROV_BASE_URL'],
  'providers.chat.api_key': ['CHATPROV_API_KEY', 'OPENAI_API_KEY'],
  'providers.chat.base_url': ['CHATPROV_BASE_URL'],
  'providers.generative.api_key': ['GENPROV_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  'providers.generative.base_url': ['GENPROV_BASE_URL'],
};

/** `keys.*`: how configured keys take turns. */
export const keys = {
  'keys.rotation': setting({
    type: oneOf('failover', 'roundrobin'),
    default: 'failover',
    env: ['SVC_KEY_ROTATION'],
    about: '`failover` moves on when a key fails; `roundrobin` takes the next key every time.',
    guarded: true,
  }),
  'keys.cooldown_429_seconds': setting({
    type: seconds,
    default: 60,
    env: ['SVC_KEY_COOLDOWN_429'],
    about: 'Seconds for which a key is not used after a 429 without `Retry-After`.',
    guarded: true,
  }),
  'keys.cooldown_401_seconds': setting({
    type: seconds,
    default: 300,
    env: ['SVC_KEY_COOLDOWN_401'],
    about: 'Seconds for which a configured key is not used after a 401.',
    guarded: true,
  }),
};

/** `rate_limiting.<provider>.*`: what a provider may be asked. */
export const rateLimiting = {
  'rate_limiting.<provider>.rpm': setting({
    type: count('requests a minute', 1),
    default: null,
    defaultText: 'no limit',
    about: 'Requests a minute to this provider; further ones wait in a queue.',
    loosens: isRaised,
  }),
};

/** One entry of `plugins`: a module, and what its own check of the configuration gets. */
const PLUGIN: ValueType<{ readonly module: string; readonly config?: unknown }> = {
  form: 'structure',
  text: 'a map with module, and config if it takes any',
  definition: { shape: { module: path.definition, 'config?': anything.definition } },
  accepts: (value): value is { readonly module: string; readonly config?: unknown } =>
    typeof value === 'object' &&
    value !== null &&
    'module' in value &&
    path.accepts(value.module) &&
    Object.keys(value).every((name) => name === 'module' || name === 'config'),
};

/** `plugins`: modules that bring stages. */
export const plugins = {
  plugins: setting({
    type: listOf(PLUGIN, 'a list of maps, each with module, and config if it takes any'),
    default: [],
    about:
      'Modules that bring stages of their own, each with its configuration. They run as you; one that cannot be used stops the start.',
    guarded: true,
    resolve: (list, absolute) => list.map((one) => ({ ...one, module: absolute(one.module) })),
  }),
};

/** `custom_providers`: providers that are code. */
export const customProviders = {
  custom_providers: setting({
    type: listOf(
      shape<{ readonly module: string; readonly name: string }>(
        { module: path, name: matching(PROVIDER_NAME, 'a provider name') },
        'a map with module and name',
      ),
      'a list of maps, each with module and a name of 1 to 64 letters, digits, - and _, and nothing else',
    ),
    default: [],
    about: 'Modules that define a provider, each with the name that it gets here. They run as you.',
    guarded: true,
    resolve: (list, absolute) => list.map((one) => ({ ...one, module: absolute(one.module) })),
  }),
};
