/** Which source wins, where files are looked for, and how values are converted. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import { loadConfig } from './load.ts';
import { loadText, type TextSources } from '../../fixtures/server/config-text.ts';

/** Five sources that set the same port, weakest first. */
const PORTS = [
  { source: 'default', port: 8766, where: '' },
  {
    source: 'file',
    port: 1001,
    where: '/etc/svc/c.yaml:1',
    sources: { file: 'server: {port: 1001}' },
  },
  {
    source: 'env-file',
    port: 1002,
    where: 'my.env:1, SVC_PORT',
    sources: { envFile: 'SVC_PORT=1002' },
  },
  { source: 'environment', port: 1003, where: 'SVC_PORT', sources: { env: { SVC_PORT: '1003' } } },
  { source: 'flag', port: 1004, where: '--port', sources: { flags: { 'server.port': '1004' } } },
] as const;

test('reports lines of an env file that set nothing, with their place', async () => {
  const text =
    'not a line\n=x\nSVC_MODE strict\n# a comment\n\nexport A="two\nlines"\nSVC_PORT=8000\n';
  const { warnings, config } = await loadConfig({
    env: {},
    envFile: 'my.env',
    cwd: '/w',
    home: '/home/ada',
    readFile: (path) => (path === '/w/my.env' ? { text, mode: 0o600 } : undefined),
  });
  assert.is(config.server.port, 8000);
  assert.equal(
    warnings.map((line) => line.split(' ', 1)[0]),
    ['my.env:1', 'my.env:2', 'my.env:3'],
  );
});

test('a single origin may be given without a list', async () => {
  for (const [text, origins] of [
    ['security: {allowed_origins: "*"}', ['*']],
    ['security: {allowed_origins: https://a.example:8443}', ['https://a.example:8443']],
    ['security: {allowed_origins: []}', []],
  ] as const) {
    const { config } = await loadConfig({
      env: {},
      configPath: '/c.yaml',
      cwd: '/w',
      home: '/home/ada',
      readFile: (path) => (path === '/c.yaml' ? { text, mode: 0o600 } : undefined),
    });
    assert.equal(config.security.allowedOrigins, origins);
  }
});

test('in every combination of sources the one of highest precedence wins', async () => {
  for (let present = 0; present < 16; present++) {
    const used = PORTS.filter((_, index) => index === 0 || (present & (1 << (index - 1))) !== 0);
    const sources = used.reduce<TextSources>(
      (all, one) => ({ ...all, ...('sources' in one ? one.sources : {}) }),
      {},
    );
    const { config, provenance } = await loadText(sources);
    const winner = used.at(-1);
    assert.is(config.server.port, winner?.port);
    assert.is(provenance.get('server.port')?.source, winner?.source);
    assert.is(provenance.get('server.port')?.where, winner?.where);
  }
});

test('an empty variable counts as unset', async () => {
  const { config } = await loadText({ envFile: 'SVC_PORT=1002', env: { SVC_PORT: '' } });
  assert.is(config.server.port, 1002);
});

test('an undefined flag counts as absent', async () => {
  const { config } = await loadText({ flags: { 'server.port': undefined } });
  assert.is(config.server.port, 8766);
});

test('uses the named config file, else the one in the current folder, else the one in the home folder', async () => {
  const own = 'server: {port: 3}';
  const foundFile = 'server: {port: 2}';
  const file = 'server: {port: 1}';
  const ports = await Promise.all(
    [{ own, beside: foundFile, file }, { own, beside: foundFile }, { own }].map(loadText),
  );
  assert.equal(
    ports.map((port) => port.config.server.port),
    [1, 2, 3],
  );
  assert.equal(
    ports.map((port) => port.configFile),
    ['/etc/svc/c.yaml', '/project/proxy.yaml', '/home/ada/.svc/config.yaml'],
  );
});

test('SVC_HOME moves the home folder and everything in it', async () => {
  const { config } = await loadText({ env: { SVC_HOME: '~/elsewhere' } });
  assert.is(config.home, '/home/ada/elsewhere');
  assert.is(config.ledger.db, '/home/ada/elsewhere/monitor.db');
  assert.is(config.vault.indexPath, '/home/ada/elsewhere/.index');
});

test('a file in which every section is empty changes nothing', async () => {
  const { provenance } = await loadText({ file: 'server:\ncompression:\nproviders:\n  chat:\n' });
  assert.ok([...provenance.values()].every(({ source }) => source === 'default'));
});

test('of two disagreeing aliases the first one wins, and the conflict is reported', async () => {
  const cases: readonly (readonly [
    TextSources,
    (config: Awaited<ReturnType<typeof loadText>>['config']) => unknown,
    unknown,
    string,
  ])[] = [
    [
      { file: 'proxy: {port: 1, host: "::1"}\nserver: {port: 2}' },
      (c) => c.server.port,
      2,
      'server.port and proxy.port',
    ],
    [
      { file: 'compression: {min_tokens: 7, threshold_tokens: 8}' },
      (c) => c.compression.thresholdTokens,
      7,
      'compression.min_tokens and compression.threshold_tokens',
    ],
    [
      { file: 'provider: chat\nrouting: {primary: messages}' },
      (c) => c.routing.primary,
      'chat',
      'provider and routing.primary',
    ],
    [
      { file: 'fallback: chat\nrouting: {fallback: [messages]}' },
      (c) => c.routing.fallback,
      ['messages'],
      'routing.fallback and fallback',
    ],
    [
      { env: { SVC_VAULT_INDEX: '/a', VAULT_INDEX_PATH: '/b' } },
      (c) => c.vault.indexPath,
      '/a',
      'SVC_VAULT_INDEX and VAULT_INDEX_PATH',
    ],
    [
      { env: { ANTHROPIC_API_KEY: 'other', MSGPROV_API_KEY: 'ours' } },
      (c) => c.providers['messages']?.keys[0]?.secret,
      'ours',
      'MSGPROV_API_KEY and ANTHROPIC_API_KEY',
    ],
    [
      { file: 'vault: {root: /v}\nadvanced: {vault_index_path: /a}' },
      (c) => c.vault.indexPath,
      '/v/.index',
      'vault.root and advanced.vault_index_path',
    ],
    [
      { file: 'vault: {root: /v, index_file: i}', env: { VAULT_INDEX_PATH: '/b' } },
      (c) => c.vault.indexPath,
      '/b',
      'vault.root and advanced.vault_index_path',
    ],
  ];
  for (const [sources, read, expected, warning] of cases) {
    const { config, warnings } = await loadText(sources);
    assert.equal(read(config), expected, warning);
    assert.ok(
      warnings.some((one) => one.startsWith(warning)),
      `${warning}: ${warnings.join('; ')}`,
    );
  }
});

test('two aliases with the same value cause no warning', async () => {
  const { warnings } = await loadText({ file: 'proxy: {port: 5}\nserver: {port: 5}' });
  assert.equal(warnings, []);
});

test('reads variables that users already have, but never the base URLs of clients', async () => {
  const { config } = await loadText({
    env: {
      ANTHROPIC_API_KEY: 'a',
      ANTHROPIC_OAUTH_TOKEN: 'b',
      ANTHROPIC_OAUTH_TOKEN2: 'c',
      OPENAI_API_KEY: 'd',
      GOOGLE_API_KEY: 'e',
      GEMINI_API_KEY: 'f',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:8766',
      OPENAI_BASE_URL: 'http://127.0.0.1:8766/v1',
    },
  });
  const { messages, chat, generative } = config.providers;
  assert.equal(messages?.keys, [
    { scheme: 'api-key', secret: 'a', label: 'ANTHROPIC_API_KEY' },
    { scheme: 'bearer', secret: 'b', label: 'ANTHROPIC_OAUTH_TOKEN' },
    { scheme: 'bearer', secret: 'c', label: 'ANTHROPIC_OAUTH_TOKEN2' },
  ]);
  assert.is(chat?.keys[0]?.secret, 'd');
  assert.is(generative?.keys[0]?.secret, 'f');
  assert.equal(
    [messages, chat, generative].map((one) => one?.baseUrl),
    [
      'https://api.anthropic.com',
      'https://api.openai.com',
      'https://generativelanguage.googleapis.com',
    ],
  );
});

test('warns of a misspelt variable, a moved provider and a readable file with keys', async () => {
  const { warnings } = await loadText({
    file: 'providers: {chat: {api_key: abc}}',
    envFile: 'CHATPROV_BASE_URL=https://else.example/v1',
    env: { SVC_PROT: '1', SVC_SOMETHING_QUITE_DIFFERENT: '1', SVC_HOME: '/h' },
    mode: 0o644,
  });
  assert.equal(warnings, [
    'SVC_PROT is not a variable of svc; did you mean SVC_PORT?',
    'Requests for chat, and its keys, go to else.example (my.env:1, CHATPROV_BASE_URL)',
    '/etc/svc/c.yaml holds keys and others on this machine may read it: chmod 600 /etc/svc/c.yaml',
  ]);
});

test('warns that others can read a file only if the file contains secrets', async () => {
  const env = { A_KEY: 'abc', SVC_HOME: '/h' };
  const WARNING = [
    '/etc/svc/c.yaml holds keys and others on this machine may read it: chmod 600 /etc/svc/c.yaml',
  ];
  for (const file of [
    'providers: {chat: {api_key: "${A_KEY}"}}',
    'providers: {chat: {headers: {X-Title: svc, Authorization: "Bearer ${A_KEY}"}}}',
    'ledger: {db: /data/x.db}',
    'outbound: {https_proxy: "http://127.0.0.1:3128"}',
    'outbound: {https_proxy: "http://me:${A_KEY}@127.0.0.1:3128"}',
  ])
    assert.equal((await loadText({ file, env, mode: 0o644 })).warnings, [], file);
  for (const file of [
    'providers: {chat: {api_key: "x${A_KEY}"}}',
    'providers: {chat: {headers: {Authorization: Bearer abc}}}',
    'providers: {chat: {headers: {X-Team-Token: abc}}}',
    'outbound: {https_proxy: "http://me:pass@127.0.0.1:3128"}',
    'security: {api_key: abcdefghijklmnopqrstuvwxyz0123456789}',
  ])
    assert.equal((await loadText({ file, env, mode: 0o644 })).warnings, WARNING, file);
  const overridden = { file: 'providers: {chat: {api_key: abc}}', mode: 0o644 };
  const { warnings } = await loadText({ ...overridden, env: { ...env, OPENAI_API_KEY: 'other' } });
  assert.equal(warnings, WARNING, 'a key is in the file even if the environment overrides it');
});

test('warns of a spending limit that nothing enforces', async () => {
  const limits = 'per_day_usd: 5, total_tokens: 9, warn_percent: 50';
  const { warnings } = await loadText({ file: `budget: {${limits}}` });
  assert.equal(warnings, [
    'budget.total_tokens and budget.per_day_usd limit nothing while budget.enabled is false',
  ]);
  for (const file of [`budget: {enabled: true, ${limits}}`, 'budget: {warn_percent: 50}'])
    assert.equal((await loadText({ file })).warnings, [], file);
  const file = 'budget: {enabled: true, projects: {shop: {per_day_usd: 5}}}';
  assert.equal((await loadText({ file })).warnings, []);
});

test('warns of an enabled budget without a limit', async () => {
  const { warnings } = await loadText({ file: 'budget: {enabled: true, warn_percent: 50}' });
  assert.equal(warnings, [
    'budget.enabled limits nothing: set one of budget.total_tokens, budget.per_request_usd, budget.per_session_usd, budget.per_day_usd, budget.per_month_usd, budget.projects',
  ]);
});

test('an env file may have export, quotes, comments and unusual names; the last definition wins', async () => {
  const envFile =
    'SVC_PORTS=1\n# SVC_PORT=5\nexport SVC_PORT="6"\nSVC_(PORT=1\nSVC_PORT=7 # ours\n';
  const { config, provenance } = await loadText({ envFile });
  assert.is(config.server.port, 7);
  assert.is(provenance.get('server.port')?.where, 'my.env:5, SVC_PORT');
});

test('in an env file, a # begins a comment only after white space', async () => {
  const envFile = [
    'MSGPROV_API_KEY=sk-a#b#c # of the team',
    'CHATPROV_API_KEY="d#e"',
    "NOTE='two",
    "x=y#z' # end",
    'SVC_HOST=#nothing',
    'SVC_PORT=12 # ours',
  ].join('\n');
  const { config } = await loadText({ envFile });
  const keys = (name: string) => config.providers[name]?.keys.map(({ secret }) => secret);
  assert.equal(keys('messages'), ['sk-a#b#c']);
  assert.equal(keys('chat'), ['d#e']);
  assert.is(config.server.port, 12);
  assert.is(config.server.host, '127.0.0.1');
});

test('warns that ALL_PROXY is not read, and names the variables to set instead', async () => {
  const env = { ALL_PROXY: 'socks5://127.0.0.1:1080' };
  const { warnings } = await loadText({ env });
  assert.match(
    warnings.join(),
    /ALL_PROXY is not read, and SOCKS is not supported: set HTTPS_PROXY/,
  );
  const both = { ...env, HTTPS_PROXY: 'http://127.0.0.1:3128' };
  assert.equal((await loadText({ env: both })).warnings, []);
});

test('an invalid line of an env file does not affect the other lines', async () => {
  const envFile = 'SVC_HOST\nSVC_PORT=6\r\n  loose words\r\nSVC_MODE="strict"\nSVC_PORT';
  const { config, warnings } = await loadText({ envFile });
  assert.equal([config.server.port, config.compression.mode], [6, 'strict']);
  assert.equal(
    warnings.map((warning) => warning.replace(/^\D*(\d+) is not a NAME=value line.*$/, '$1')),
    ['1', '3', '5'],
  );
});

test('a found proxy.yaml may set harmless values', async () => {
  const { config } = await loadText({
    beside: 'server: {port: 9000}\ncompression: {mode: strict}\nprovider: chat',
  });
  assert.is(config.server.port, 9000);
});

test('a named config file that is missing is CONFIG_001', async () => {
  for (const named of [{ configPath: 'nowhere.yaml' }, { envFile: 'nowhere.env' }]) {
    const error: unknown = await loadConfig({
      env: {},
      cwd: '/project',
      home: '/h',
      readFile: () => undefined,
      ...named,
    }).catch((thrown: unknown) => thrown);
    assert.ok(isSvcError(error));
    assert.is(error.code, 'CONFIG_001');
    assert.match(error.message, /nowhere.*does not exist/);
  }
});

test.run();
