/** Faults between settings, in variables and flags, and in untrusted config files. */
import { test } from 'uvu';
import { expectOneFaultEach, type BadCase } from '../../fixtures/server/config-text.ts';

const file = (text: string, fault: string): BadCase => [{ file: text }, fault];

const env = (name: string, value: string, fault: string): BadCase => [
  { env: { [name]: value } },
  fault,
];

const url = (text: string, fault: string): BadCase => [
  { file: `providers:\n  chat: {base_url: ${JSON.stringify(text)}}` },
  `providers.chat.base_url: ${fault} (/etc/svc/c.yaml:2)`,
];

const beside = (text: string, key: string): BadCase => [
  { beside: text },
  `${key} may not be set by a proxy.yaml that was merely found in the current folder; ` +
    'if you trust the file, pass --config proxy.yaml (proxy.yaml:',
];

/** Each case has exactly one fault, whose text starts with the string given. */
const BAD: readonly BadCase[] = [
  // between settings
  [
    { env: { SVC_DB: 'mysql://u:p@db/svc' } },
    'ledger.db: it is an address that is neither a path nor a postgres:// URL (SVC_DB)',
  ],
  [
    { env: { SVC_DB: 'postgres://u:p/ss@db/svc' } },
    'ledger.db: not a valid URL: in its password write / ? # @ : and % as %2F %3F %23 %40 %3A and %25 (SVC_DB)',
  ],
  [
    { env: { SVC_DB: 'postgresql://u:p@db' } },
    'ledger.db: it names no database: it ends in one, as in //host/name (SVC_DB)',
  ],
  ...(
    [
      ['db:6379', 'it does not begin with redis:// or rediss://;'],
      ['http://:s3cret@db:6379', 'it does not begin with redis:// or rediss://;'],
      ['redis://', 'it names no host;'],
      ['redis://:s3cret@', 'it is not the URL of a Redis server;'],
      ['redis://db:99999', 'it is not the URL of a Redis server;'],
      ['redis://db:0', 'no server listens on port 0;'],
      ['redis://db/cache', 'what follows the host must be the number of a database, such as /0;'],
      ['redis://db?family=6', 'it may not contain a query or a fragment;'],
      ['redis://:s3#cret@db', 'it may not contain a query or a fragment;'],
      ['redis://:s3%cret@db', 'its user or password has a % that does not begin an escape;'],
    ] as const
  ).map(([text, reason]) => env('SVC_REDIS_URL', text, `shared.redis_url: ${reason}`)),
  beside('shared: {redis_url: "redis://elsewhere.example"}', 'shared.redis_url'),
  env(
    'HTTPS_PROXY',
    'http://',
    'outbound.https_proxy: it is not the address of a proxy; write http://host:port or https://host:port, or unset it (HTTPS_PROXY)',
  ),
  env(
    'http_proxy',
    'a b',
    'outbound.http_proxy: it is not the address of a proxy; write http://host:port or https://host:port, or unset it (http_proxy)',
  ),
  env('HTTP_PROXY', 'proxy:99999', 'outbound.http_proxy: it is not the address of a proxy;'),
  env('HTTPS_PROXY', ':3128', 'outbound.https_proxy: it is not the address of a proxy;'),
  env(
    'HTTPS_PROXY',
    'socks5://h:1',
    'outbound.https_proxy: proxies of the kind "socks5:" are not supported;',
  ),
  env('HTTPS_PROXY', 'http://u:p%zz@h:1', 'outbound.https_proxy: its user or password has a %'),
  file(
    'outbound: {https_proxy: "http://["}',
    'outbound.https_proxy: it is not the address of a proxy;',
  ),
  file(
    'providers: {local: {base_url: "http://127.0.0.1:1"}}',
    "Missing required field 'providers.local.kind': one of messages, chat, generative, passthrough (/etc/svc/c.yaml:1)",
  ),
  file(
    'providers: {message: {api_key: abc}}',
    "Missing required field 'providers.message.kind': one of messages, chat, generative, passthrough; or did you mean providers.messages? (",
  ),
  file(
    'providers: {local: {kind: openai}}',
    'providers.local.kind: found "openai", expected one of messages, chat, generative, passthrough (',
  ),
  file(
    'providers: {chat: {kind: messages}}',
    'providers.chat.kind: the kind of a built-in provider is its name; choose another name for it (',
  ),
  file(
    'providers: {"a/b": {kind: chat}}',
    'providers.a/b: a provider name has 1 to 64 letters, digits, - and _ (',
  ),
  file(
    'providers: {chat: {headers: {Host: x}}}',
    "providers.chat.headers.Host: this header is the proxy's own to set (",
  ),
  file(
    'providers: {chat: {headers: {"a b": x}}}',
    'providers.chat.headers: "a b" is not a header name (',
  ),
  file(
    'routing: {primary: mesages}',
    'routing.primary: there is no provider "mesages"; did you mean messages? (',
  ),
  file(
    'provider: acme',
    'routing.primary: there is no provider "acme"; known are messages, chat, generative, passthrough (',
  ),
  file(
    'fallback: [chat, generativ]',
    'routing.fallback: there is no provider "generativ"; did you mean generative? (',
  ),
  file(
    'fallback: [generativ/gemini-x]',
    'routing.fallback: there is no provider "generativ"; did you mean generative? (',
  ),
  file(
    'fallback: [chat/]',
    'routing.fallback: "chat/" names no model; write a provider, or provider/model (',
  ),
  file(
    'models: {small: {provider: chatt}}',
    'models.small.provider: there is no provider "chatt"; did you mean chat? (',
  ),
  file(
    'rate_limiting: {chta: {rpm: 5}}',
    'rate_limiting.chta: there is no provider "chta"; did you mean chat? (',
  ),
  file(
    'rate_limit: {burst_size: 5}',
    "Missing required field 'rate_limit.requests_per_second': rate_limit.burst_size means nothing without it (",
  ),
  file(
    'server: {port: 9000, ws_port: 9000}',
    'server.ws_port: 9000 is the main port already; /ws is served there too (',
  ),
  file(
    'server: {port: 65535}',
    'server.port: no port follows 65535 for the WebSocket; set server.ws_port (',
  ),
  file(
    'providers: {relay: {kind: passthrough}}',
    "Missing required field 'providers.relay.base_url': no public address belongs to passthrough (",
  ),
  file(
    'providers: {relay: }',
    "Missing required field 'providers.relay.kind': one of messages, chat, generative, passthrough (/etc/svc/c.yaml:1)",
  ),
  file(
    'custom_providers: [{module: a.mjs, name: chat}]',
    'custom_providers: the name "chat" is taken already (',
  ),
  file(
    'custom_providers: [{module: a.mjs, name: p}, {module: b.mjs, name: p}]',
    'custom_providers: the name "p" is taken already (',
  ),
  // base URLs
  url('api.example.com', 'it is not a URL such as https://host/prefix'),
  url('ftp://api.example.com', '"ftp:" is not read, expected https: or http:'),
  url(
    'https://me:pass@api.example.com',
    'it may not contain a user or a password; use api_key or headers',
  ),
  url(
    'https://api.example.com/v1?key=a',
    'it may not contain the parameter "key": addresses are shown; use api_key or headers',
  ),
  url('https://api.example.com/#', 'it may not contain a fragment'),
  url(
    'http://api.example.com',
    'plain http: would send keys to api.example.com unencrypted; use https: or set allow_insecure',
  ),
  url(
    'http://127.0.0.1.example.com',
    'plain http: would send keys to 127.0.0.1.example.com unencrypted; use https: or set allow_insecure',
  ),
  url('http://127.0.0.1:8766', 'it is the address of this proxy, which would call itself'),
  url('http://localhost:8767/v1', 'it is the address of this proxy, which would call itself'),
  url('http://[::ffff:127.0.0.1]:8766', 'it is the address of this proxy, which would call itself'),
  // variables
  env('SVC_PORT', 'abc', 'SVC_PORT: found "abc", expected a port from 0 to 65535'),
  env('SVC_PORT', '0x10', 'SVC_PORT: found "0x10", expected a port'),
  env('SVC_PORT', '1e3', 'SVC_PORT: found "1e3", expected a port'),
  env('SVC_PORT', ' 80', 'SVC_PORT: found " 80", expected a port'),
  env('SVC_COMPACT', 'yes', 'SVC_COMPACT: found "yes", expected 0, 1, true or false'),
  env('SVC_ROUTER_ENABLED', 'on', 'SVC_ROUTER_ENABLED: found "on", expected 0, 1, true or false'),
  env('SVC_MODE', 'Hybrid', 'SVC_MODE: found "Hybrid", expected one of strict, hybrid, aggressive'),
  env(
    'SVC_REQUEST_TIMEOUT',
    '-1',
    'SVC_REQUEST_TIMEOUT: found "-1", expected seconds, from 0 to 2147483',
  ),
  env(
    'SVC_INJECT_TOP_K',
    '2.5',
    'SVC_INJECT_TOP_K: found "2.5", expected blocks, a whole number of at least 0',
  ),
  env(
    'SVC_RETRIEVAL_BACKEND',
    'pg',
    'SVC_RETRIEVAL_BACKEND: found "pg", expected one of json_blocks, sqlite',
  ),
  env(
    'SVC_KEY_ROTATION',
    'random',
    'SVC_KEY_ROTATION: found "random", expected one of failover, roundrobin',
  ),
  env(
    'MSGPROV_API_KEY',
    'a b',
    'MSGPROV_API_KEY: found 3 characters, expected a key without spaces or line breaks',
  ),
  env('OPENAI_API_KEY', 'sk\nx', 'OPENAI_API_KEY: found 4 characters, expected a key without'),
  env(
    'CHATPROV_BASE_URL',
    'nowhere',
    'providers.chat.base_url: it is not a URL such as https://host/prefix (CHATPROV_BASE_URL)',
  ),
  [
    { envFile: '# mine\nexport SVC_PORT=x\n' },
    'SVC_PORT: found "x", expected a port from 0 to 65535 (my.env:2, SVC_PORT)',
  ],
  // flags
  [{ flags: { 'server.port': 'abc' } }, '--port: found "abc", expected a port from 0 to 65535'],
  [{ flags: { 'server.port': 99999 } }, '--port: found 99999, expected a port from 0 to 65535'],
  // a config file found in the working folder
  beside('providers: {chat: {base_url: "https://a.example"}}', 'providers.chat.base_url'),
  beside('providers: {chat: {api_key: abc}}', 'providers.chat.api_key'),
  beside('providers: {messages: {headers: {x: y}}}', 'providers.messages.headers'),
  beside('custom_providers: [{module: ./evil.mjs, name: evil}]', 'custom_providers'),
  beside('ledger: {db: ./x.db}', 'ledger.db'),
  beside('vault: {root: .}', 'vault.root'),
  beside('security: {api_key: abc}', 'security.api_key'),
  beside('security: {trust_browser_origins: true}', 'security.trust_browser_origins'),
  beside('outbound: {https_proxy: "http://evil.example"}', 'outbound.https_proxy'),
  beside('telemetry: {log_file: /tmp/x}', 'telemetry.log_file'),
];

test('each mistake gives one fault with the setting, the place and the expected value', () =>
  expectOneFaultEach(BAD));

test.run();
