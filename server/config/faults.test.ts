/** Every way to get a configuration wrong, with the message that the user reads. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import {
  expectOneFaultEach,
  faultsOf,
  loadText,
  type BadCase,
} from '../../fixtures/server/config-text.ts';

const file = (text: string, fault: string): BadCase => [{ file: text }, fault];

/** Each case has exactly one fault, whose text starts with the string given. */
const BAD: readonly BadCase[] = [
  // unknown keys
  file(
    'server: {prot: 1}',
    'server.prot is not a setting; did you mean server.port? (/etc/svc/c.yaml:1)',
  ),
  file('\n\nport: 8000', 'port is not a setting; did you mean server.port? (/etc/svc/c.yaml:3)'),
  file(
    'cache: {eviction_policy: lru}',
    'cache.eviction_policy is not a setting; did you mean cache.eviction? (',
  ),
  file('compresion: {mode: hybrid}', 'compresion is not a setting; did you mean compression? ('),
  file(
    'compression: {mod: hybrid}',
    'compression.mod is not a setting; did you mean compression.mode? (',
  ),
  file(
    'providers: {chat: {timeout: 5}}',
    'providers.chat.timeout is not a setting; did you mean providers.chat.timeout_seconds? (',
  ),
  file(
    'providers: {a-long-name: {kind: chat, stream: false}}',
    'providers.a-long-name.stream is not a setting (',
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
  file('[1, 2]', 'The file contains a list of 2, expected a map of settings (/etc/svc/c.yaml)'),
  file('just text', 'The file contains 9 characters, expected a map of settings'),
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
    'security: {allowed_origins: ["https://a.example/", "https://b.example/path"]}',
    'security.allowed_origins: "https://b.example/path" is not an origin; write https://host',
  ),
  file(
    'security: {allowed_origins: a.example}',
    'security.allowed_origins: "a.example" is not an origin',
  ),
  file(
    'security: {allowed_origins: [7]}',
    'security.allowed_origins: found 7 as item 1, expected a',
  ),
  file(
    'streaming: {formats: []}',
    'streaming.formats: an empty list leaves no format for a stream',
  ),
  file(
    'server.port: 9000',
    'server.port is written as one key; sections are nested: server: {port: …} (',
  ),
  file(
    'proxy.port: 9000',
    'proxy.port is written as one key; sections are nested: proxy: {port: …} (',
  ),
  file(
    'advanced: {max_request_size_bytes: 0}',
    'advanced.max_request_size_bytes: found 0, expected bytes, from 1 to 1073741824 (',
  ),
  file(
    'streaming: {formats: [sse, websocket]}',
    'streaming.formats: found "websocket" as item 2, expected a list of sse and chunked (',
  ),
  file('budget: {per_day_usd: -1}', 'budget.per_day_usd: found -1, expected US dollars, from 0 to'),
  file(
    'budget: {warn_percent: 101}',
    'budget.warn_percent: found 101, expected a percentage from 1 to 100 (',
  ),
  file(
    'custom_providers: [{module: a.mjs}]',
    "Missing required field 'custom_providers[0].name': a list of maps, each with module and a name of 1 to 64 letters, digits, - and _, and nothing else (",
  ),
  file(
    'alerts: [{name: a, when: {metric: requests, above: 1, window_minutes: 5}}, {name: b, when: {above: 1}}]',
    "Missing required field 'alerts[1].when.metric': a list of maps",
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
];

test('each bad value in a file gives one fault with the setting, the place and the expected value', () =>
  expectOneFaultEach(BAD));

/** Each file is rejected as a whole with CONFIG_001. */
const MALFORMED: readonly (readonly [text: string, message: string])[] = [
  ['server: {port: 1', 'Failed to load config: /etc/svc/c.yaml:1: '],
  ['a: 1\na: 2', 'Failed to load config: /etc/svc/c.yaml:2: "a" is defined twice'],
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

test('refuses a file that is not plain YAML, and names the line', async () => {
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

test('all faults of all sources are reported in one error', async () => {
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
      '  SVC_COMPACT: found "yes", expected 0, 1, true or false (my.env:1, SVC_COMPACT)',
      '  SVC_PORT: found "x", expected a port from 0 to 65535',
      '  --host: found "", expected a host name or an address',
    ].join('\n'),
  );
});

test('reports an invalid value even if a source of higher precedence overrides it', async () => {
  const faults = await faultsOf({ file: 'server: {port: x}', flags: { 'server.port': 9000 } });
  assert.is(faults.length, 1);
});

test('no fault quotes a secret', async () => {
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
