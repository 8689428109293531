/** Every way to get a configuration wrong, with the words that the user reads. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import { faultsOf, loadText, type TextSources } from './testing.ts';

type Case = readonly [sources: TextSources, fault: string];

const file = (text: string, fault: string): Case => [{ file: text }, fault];
const env = (name: string, value: string, fault: string): Case => [
  { env: { [name]: value } },
  fault,
];
const url = (text: string, fault: string): Case => [
  { file: `providers:\n  chat: {base_url: ${JSON.stringify(text)}}` },
  `providers.chat.base_url: ${fault} (/etc/svc/c.yaml:2)`,
];
const beside = (text: string, key: string): Case => [
  { beside: text },
  `${key} may not be set by a proxy.yaml that was merely found in the current folder; ` +
    'if you trust the file, pass --config proxy.yaml (proxy.yaml:',
];

/** Each makes exactly one fault, whose text starts with what stands here. */
const BAD: readonly Case[] = [
  // unknown keys
  file(
    'server: {prot: 1}',
    'server.prot is not a setting; did you mean server.port? (/etc/svc/c.yaml:1)',
  ),
  file('\n\nport: 8000', 'port is not a setting; did you mean server.port? (/etc/svc/c.yaml:3)'),
  file('compresion: {mode: hybrid}', 'compresion is not a setting; did you mean compression? ('),
  file(
    'compression: {mod: hybrid}',
    'compression.mod is not a setting; did you mean compression.mode? (',
  ),
  file('zebra: 1', 'zebra is not a setting (/etc/svc/c.yaml:1)'),
  file(
    'providers: {chat: {base_ulr: x}}',
    'providers.chat.base_ulr is not a setting; did you mean providers.chat.base_url? (',
  ),
  file('providers: {chat: {pricing: {input: 1}}}', 'providers.chat.pricing.input is not a setting'),
  file(
    'rate_limiting: {chat: {rmp: 1}}',
    'rate_limiting.chat.rmp is not a setting; did you mean rate_limiting.chat.rpm? (',
  ),
  file(
    'models: {small: {steam: true}}',
    'models.small.steam is not a setting; did you mean models.small.stream? (',
  ),
  file('proxy: {hots: a}', 'proxy.hots is not a setting; did you mean proxy.host? ('),
  // sections
  file('[1, 2]', 'The file holds a list of 2, expected a map of settings (/etc/svc/c.yaml)'),
  file('just text', 'The file holds 9 characters, expected a map of settings'),
  file('server: 8000', 'server: found a number, expected a map of settings (/etc/svc/c.yaml:1)'),
  file('providers: [chat]', 'providers: found a list of 1, expected a map of settings'),
  file(
    'providers: {chat: sk-very-secret}',
    'providers.chat: found 14 characters, expected a map of settings',
  ),
  // prototype names
  file('__proto__: {port: 1}', '__proto__: "__proto__" may not be used as a name'),
  file(
    'providers: {constructor: {kind: chat}}',
    'providers.constructor: "constructor" may not be used as a name',
  ),
  file(
    'models: {prototype: {provider: chat}}',
    'models.prototype: "prototype" may not be used as a name',
  ),
  file(
    'providers: {chat: {extra_body: {a: {__proto__: 1}}}}',
    'providers.chat.extra_body.a.__proto__: "__proto__" may not be used as a name',
  ),
  // kinds of value in a file
  file('server: {port: "8000"}', 'server.port: found "8000", expected a port from 0 to 65535 ('),
  file('server: {port: 65536}', 'server.port: found 65536, expected a port from 0 to 65535 ('),
  file('server: {port: -1}', 'server.port: found -1, expected a port'),
  file('server: {port: 80.5}', 'server.port: found 80.5, expected a port'),
  file('server: {port: }', 'server.port: found nothing, expected a port'),
  file('server: {host: "a b"}', 'server.host: found "a b", expected a host name or an address ('),
  file(
    'server: {allowed_hosts: svc.lan}',
    'server.allowed_hosts: found "svc.lan", expected a list of host names (',
  ),
  file('compression: {enabled: yes}', 'compression.enabled: found "yes", expected true or false ('),
  file('compression: {enabled: 1}', 'compression.enabled: found 1, expected true or false ('),
  file(
    'compression: {mode: fast}',
    'compression.mode: found "fast", expected one of strict, hybrid, aggressive (',
  ),
  file('compression: {mode: [hybrid]}', 'compression.mode: found a list of 1, expected one of'),
  file(
    'compression: {max_chars: 0}',
    'compression.max_chars: found 0, expected characters, a whole number of at least 1 (',
  ),
  file(
    'compression: {min_tokens: -5}',
    'compression.min_tokens: found -5, expected tokens, a whole number of at least 0 (',
  ),
  file('cache: {type: redis}', 'cache.type: found "redis", expected one of memory, disk ('),
  file(
    'cache: {ttl_seconds: .inf}',
    'cache.ttl_seconds: found Infinity, expected seconds, from 0 to 2147483 (',
  ),
  file('cache: {ttl_seconds: .nan}', 'cache.ttl_seconds: found NaN, expected seconds'),
  file('cache: {eviction: fifo}', 'cache.eviction: found "fifo", expected lru ('),
  file(
    'logging: {level: verbose}',
    'logging.level: found "verbose", expected one of debug, info, warning, error (',
  ),
  file(
    'logging: {retention_days: 1.5}',
    'logging.retention_days: found 1.5, expected days, from 0 to 36500 (',
  ),
  file(
    'security: {api_key: "two words"}',
    'security.api_key: found 9 characters, expected a key without spaces or line breaks (',
  ),
  file('security: {api_key: 12345}', 'security.api_key: found a number, expected a key without'),
  file(
    'security: {allowed_origins: "*"}',
    'security.allowed_origins: found "*", expected a list of origins, or * (',
  ),
  file(
    'advanced: {max_request_size_bytes: 0}',
    'advanced.max_request_size_bytes: found 0, expected bytes, from 1 to 1073741824 (',
  ),
  file(
    'streaming: {formats: [sse, websocket]}',
    'streaming.formats: found a list of 2, expected a list of sse and chunked (',
  ),
  file('budget: {per_day_usd: -1}', 'budget.per_day_usd: found -1, expected US dollars, from 0 to'),
  file(
    'budget: {warn_percent: 101}',
    'budget.warn_percent: found 101, expected a percentage from 1 to 100 (',
  ),
  file(
    'custom_providers: [{module: a.mjs}]',
    'custom_providers: found a list of 1, expected a list of maps, each with module and name (',
  ),
  file(
    'providers: {chat: {timeout_seconds: 3000000}}',
    'providers.chat.timeout_seconds: found 3000000, expected seconds',
  ),
  file(
    'providers: {chat: {headers: {x-a: 1}}}',
    'providers.chat.headers: found a map, expected a map of header names to values (',
  ),
  file(
    'providers: {chat: {headers: {x-a: "b\\r\\nc"}}}',
    'providers.chat.headers: found a map, expected a map of header names',
  ),
  // between settings
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
    'it may not hold a user or a password; use api_key or headers',
  ),
  url('https://api.example.com/v1?key=a', 'it may not hold a query or a fragment'),
  url('https://api.example.com/#', 'it may not hold a query or a fragment'),
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
  env('SVC_PORT', 'abc', 'SVC_PORT: found "abc", expected a port from 0 to 65535 (SVC_PORT)'),
  env('SVC_PORT', '0x10', 'SVC_PORT: found "0x10", expected a port'),
  env('SVC_PORT', '1e3', 'SVC_PORT: found "1e3", expected a port'),
  env('SVC_PORT', ' 80', 'SVC_PORT: found " 80", expected a port'),
  env('SVC_COMPACT', 'yes', 'SVC_COMPACT: found "yes", expected 0, 1, true or false (SVC_COMPACT)'),
  env('SVC_ROUTER_ENABLED', 'on', 'SVC_ROUTER_ENABLED: found "on", expected 0, 1, true or false ('),
  env(
    'SVC_MODE',
    'Hybrid',
    'SVC_MODE: found "Hybrid", expected one of strict, hybrid, aggressive (',
  ),
  env(
    'SVC_REQUEST_TIMEOUT',
    '-1',
    'SVC_REQUEST_TIMEOUT: found "-1", expected seconds, from 0 to 2147483 (',
  ),
  env(
    'SVC_INJECT_TOP_K',
    '2.5',
    'SVC_INJECT_TOP_K: found "2.5", expected blocks, a whole number of at least 0 (',
  ),
  env(
    'SVC_RETRIEVAL_BACKEND',
    'pg',
    'SVC_RETRIEVAL_BACKEND: found "pg", expected one of json_blocks, sqlite (',
  ),
  env(
    'SVC_KEY_ROTATION',
    'random',
    'SVC_KEY_ROTATION: found "random", expected one of failover, roundrobin (',
  ),
  env(
    'MSGPROV_API_KEY',
    'a b',
    'MSGPROV_API_KEY: found 3 characters, expected a key without spaces or line breaks (',
  ),
  env('OPENAI_API_KEY', 'sk\nx', 'OPENAI_API_KEY: found 4 characters, expected a key without'),
  env(
    'CHATPROV_BASE_URL',
    'nowhere',
    'providers.chat.base_url: it is not a URL such as https://host/prefix (CHATPROV_BASE_URL)',
  ),
  [
    { envFile: '# mine\nexport SVC_PORT=x\n' },
    'SVC_PORT: found "x", expected a port from 0 to 65535 (my.env:2 (SVC_PORT))',
  ],
  // flags
  [{ flags: { 'server.port': 'abc' } }, '--port: found "abc", expected a port from 0 to 65535'],
  [{ flags: { 'server.port': 99999 } }, '--port: found 99999, expected a port from 0 to 65535'],
  // a file that was merely found
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

test('each bad input makes one fault that says what is wrong, where, and what is right', async () => {
  assert.ok(BAD.length >= 60);
  for (const [sources, expected] of BAD) {
    const faults = await faultsOf(sources);
    const texts = faults.map((one) => one.text);
    assert.is(texts.length, 1, `${JSON.stringify(sources)} made ${JSON.stringify(texts)}`);
    assert.is(texts[0]?.slice(0, expected.length), expected);
  }
});

/** Each is refused as a whole with CONFIG_001. */
const MALFORMED: readonly (readonly [text: string, message: string])[] = [
  ['server: {port: 1', 'Failed to load config: /etc/svc/c.yaml:1: '],
  ['a: 1\na: 2', 'Failed to load config: /etc/svc/c.yaml:2: "a" stands there twice'],
  ['\tserver: 1', 'Failed to load config: /etc/svc/c.yaml:1: '],
  ['server: !!js/function x', 'Failed to load config: /etc/svc/c.yaml:1: '],
  ['server:\n  port: !!int "8"', 'Failed to load config: /etc/svc/c.yaml:2: tags such as '],
  [
    'a: &a {x: 1}\nb:\n  <<: *a',
    'Failed to load config: /etc/svc/c.yaml:3: merge keys (<<) are not read',
  ],
  ['server: *nowhere', 'Failed to load config: /etc/svc/c.yaml:1: '],
  ['? [a, b]\n: 1', 'Failed to load config: /etc/svc/c.yaml:1: only plain text can be a key'],
  ['a: 1\n---\nb: 2', 'Failed to load config: /etc/svc/c.yaml:2: '],
  ['a: &a [*a]', 'Failed to load config: /etc/svc/c.yaml:1: '],
];

test('what is not plain YAML is refused as a whole, with its line', async () => {
  for (const [text, message] of MALFORMED) {
    const error = await loadText({ file: text }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(isSvcError(error), text);
    assert.is(error.kind, 'config');
    assert.is(error.code, 'CONFIG_001', text);
    assert.is(error.message.slice(0, message.length), message);
  }
});

test('all faults of all sources are told in one error', async () => {
  const error = await loadText({
    file: 'server: {prot: 1}\ncompression: {mode: fast}',
    envFile: 'SVC_COMPACT=yes',
    env: { SVC_PORT: 'x' },
    flags: { 'server.host': '' },
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(isSvcError(error));
  assert.is(error.code, 'CONFIG_002');
  assert.is(
    error.message,
    [
      'Config validation failed: 5 faults',
      '  server.prot is not a setting; did you mean server.port? (/etc/svc/c.yaml:1)',
      '  compression.mode: found "fast", expected one of strict, hybrid, aggressive (/etc/svc/c.yaml:2)',
      '  SVC_COMPACT: found "yes", expected 0, 1, true or false (my.env:1 (SVC_COMPACT))',
      '  SVC_PORT: found "x", expected a port from 0 to 65535 (SVC_PORT)',
      '  --host: found "", expected a host name or an address',
    ].join('\n'),
  );
});

test('a fault in a value that a stronger source overrides is told all the same', async () => {
  const faults = await faultsOf({ file: 'server: {port: x}', flags: { 'server.port': 9000 } });
  assert.is(faults.length, 1);
});

test('no fault ever quotes a secret', async () => {
  const canary = 'canary with spaces 0123456789';
  const text = `security: {api_key: "${canary}"}\nproviders: {chat: {api_key: "${canary}", headers: {x: ["${canary}"]}}}`;
  const faults = await faultsOf({ file: text, env: { MSGPROV_OAUTH_TOKEN: canary } });
  assert.is(faults.length, 4);
  assert.not.match(JSON.stringify(faults), /canary/);
  const error: unknown = await loadText({ file: `key: "${canary}\nx` }).catch(
    (thrown: unknown) => thrown,
  );
  assert.ok(isSvcError(error));
  assert.not.match(error.message, /canary/);
});

test.run();
