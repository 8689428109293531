/** `svc run`: a real client process through a real proxy to the fake provider. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import type { Upstream } from '../../fixtures/upstream.ts';
import { exitCodes } from '../exit.ts';
import { connectWith } from '../../fixtures/forward-mode.ts';
import { freePort } from '../../fixtures/cli/live.ts';
import { inPlace, makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { runningInstance } from '../process/daemon.ts';

/**
 * Sends one request to the URL in each variable named on its command line; its first argument is
 * the exit code.
 */
const CLIENT = `
const [code, ...paths] = process.argv.slice(2);
for (const one of paths) {
  const [name, path] = one.split('=');
  const answer = await fetch(process.env[name] + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'mine', authorization: 'Bearer mine' },
    body: JSON.stringify({
      model: name.startsWith('A') ? 'claude-sonnet-4-5' : 'gpt-4o',
      max_tokens: 32,
      messages: [{ role: 'user', content: 'Say hello.' }],
    }),
  });
  console.log(name, answer.status);
}
if (code === 'wait') {
  process.on('SIGTERM', () => process.exit(42));
  console.error('listens on http://waiting');
  setInterval(() => {}, 1000);
} else process.exitCode = Number(code);
`;

interface Stage {
  readonly place: Place;
  readonly client: string;
  readonly env: Readonly<Record<string, string>>;
}

async function withProxy(use: (stage: Stage, upstream: Upstream) => Promise<void>): Promise<void> {
  const place = makePlace();
  const upstream = await startUpstream();
  const env = {
    SVC_PORT: '0',
    SVC_WS_PORT: '0',
    MSGPROV_BASE_URL: upstream.url,
    CHATPROV_BASE_URL: upstream.url,
  };
  const client = join(place.folder, 'client.mjs');
  fs.writeFileSync(client, CLIENT);
  try {
    await use({ place, client, env }, upstream);
  } finally {
    await run(place, ['stop', '--force']);
    await upstream.close();
    place.dispose();
  }
}

test('a client runs through a proxy that was started for it, with exit code and receipt', () =>
  withProxy(async ({ place, client, env }, upstream) => {
    const argv = ['run', '--', process.execPath, client];
    const asks = ['ANTHROPIC_BASE_URL=/v1/messages', 'OPENAI_BASE_URL=/chat/completions'];
    const first = await start(place, [...argv, '7', ...asks], env).ended;
    assert.is(first.code, 7, first.stderr);
    assert.is(first.stdout, 'ANTHROPIC_BASE_URL 200\nOPENAI_BASE_URL 200\n');
    assert.match(first.stderr, /is running in the background now/);
    assert.match(first.stderr, /Requests +2\n/);
    assert.match(first.stderr, /Cost +\$0\.\d{4}; \$0\.\d{4} without svc/);
    assert.is(upstream.requests.length, 2);

    // Only requests during the run count, and the running proxy is used.
    const second = await start(place, ['run', '--json', ...argv.slice(1), '0', asks[0]!], env)
      .ended;
    const receipt = JSON.parse(second.stderr) as Record<string, unknown>;
    assert.is(receipt['requests'], 1);
    assert.ok(Number(receipt['input_tokens_raw']) > 0);
    assert.ok(Number(receipt['cost']) > 0);
    const none = await start(place, [...argv, '0'], env).ended;
    assert.equal([none.code, none.stderr], [0, 'svc: no request went through the proxy.\n']);
  }));

test('a signal is forwarded to the client, and its exit is passed on', () =>
  withProxy(async ({ place, client, env }) => {
    const running = start(place, ['run', '-q', '--', process.execPath, client, 'wait'], env);
    await running.prints(/waiting/);
    running.child.kill('SIGTERM');
    assert.is((await running.ended).code, 42);
  }));

test('Codex gets its settings as arguments, and loopback is added to NO_PROXY', () =>
  withProxy(async ({ place, env }) => {
    const codex = join(place.folder, 'codex');
    fs.writeFileSync(codex, '#!/bin/sh\necho "$NO_PROXY"\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const network = { ...env, HTTPS_PROXY: 'http://proxy.invalid:3128', no_proxy: 'intranet' };
    const { stdout } = await start(place, ['run', '-q', '--', codex, 'exec'], network).ended;
    assert.match(stdout, /^intranet,127\.0\.0\.1,localhost\n/);
    assert.match(stdout, /\n-c\nmodel_providers\.svc\.base_url="http:\/\/127\.0\.0\.1:\d+\/v1"\n/);
    assert.match(stdout, /\n-c\nmodel_providers\.svc\.supports_websockets=false\nexec\n$/);
  }));

/** Opens a tunnel twice by its environment, and prints what it was told to trust. */
const TUNNELLER = `
import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
const { HTTPS_PROXY = '', NODE_EXTRA_CA_CERTS = '', SSL_CERT_FILE = '' } = process.env;
const { hostname, port, username, password } = new URL(HTTPS_PROXY);
const shown = Buffer.from(username + ':' + password).toString('base64');
const host = 'generativelanguage.googleapis.com:443';
const socket = connect(Number(port), hostname);
socket.write('CONNECT ' + host + ' HTTP/1.1\\r\\nHost: ' + host + '\\r\\nProxy-Authorization: Basic ' + shown + '\\r\\n\\r\\n');
socket.once('data', (bytes) => {
  const { mode } = statSync(NODE_EXTRA_CA_CERTS);
  const own = readFileSync(NODE_EXTRA_CA_CERTS, 'utf8').trim();
  const base = process.env.ANTHROPIC_BASE_URL ?? null;
  const inList = readFileSync(SSL_CERT_FILE, 'utf8').includes(own);
  const status = String(bytes).slice(9, 12);
  console.log(JSON.stringify({ status, mode: mode & 0o777, inList, base, port, shown }));
  socket.destroy();
});
`;

test('in forward mode the client gets the proxy, a token for the session and a certificate list', () =>
  withProxy(async ({ place, env }) => {
    const client = join(place.folder, 'tunneller.mjs');
    fs.writeFileSync(client, TUNNELLER);
    const argv = ['run', '--forward', '-q', '--', process.execPath, client];
    const ran = await start(place, argv, env).ended;
    assert.is(ran.code, 0, ran.stderr);
    assert.match(ran.stderr, /made a certificate authority/);
    const printed = JSON.parse(ran.stdout) as Record<string, unknown>;
    const { status, mode, inList, base } = printed;
    assert.equal([status, mode, inList, base], ['200', 0o600, true, null]);
    // The next run has another token, and this run's token is no longer valid.
    const again = await start(place, argv, env).ended;
    assert.not.match(again.stderr, /made a certificate/);
    assert.not.equal((JSON.parse(again.stdout) as typeof printed)['shown'], printed['shown']);
    const host = 'generativelanguage.googleapis.com:443';
    const afterwards = await connectWith(
      Number(printed['port']),
      `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nProxy-Authorization: Basic ${String(printed['shown'])}\r\n\r\n`,
    );
    assert.is(afterwards.status, 407);
    afterwards.socket.destroy();
  }));

test('settings of the client that bypass forward mode are reported before it starts', () =>
  withProxy(async ({ place, env }) => {
    const settings = { env: { ANTHROPIC_BASE_URL: 'https://user:secret@gateway.example/v1' } };
    fs.mkdirSync(join(place.folder, '.claude'));
    fs.writeFileSync(join(place.folder, '.claude', 'settings.json'), JSON.stringify(settings));
    const client = showing(place, 'claude', 'exit 3');
    const { code, stderr } = await start(place, ['run', '--forward', '-q', client], env).ended;
    assert.is(code, 3, stderr);
    assert.match(
      stderr,
      'svc: ANTHROPIC_BASE_URL in ~/.claude/settings.json points to gateway.example: requests to it bypass svc\n',
    );
    assert.not.match(stderr, 'secret');
  }));

test('a proxy that is configured as its own outbound proxy does not start', () =>
  withProxy(async ({ place, env }) => {
    const port = String(await freePort());
    const own = { ...env, SVC_PORT: port, HTTPS_PROXY: `http://svc:t@127.0.0.1:${port}` };
    const { code, stderr } = await start(place, ['serve'], own).ended;
    assert.is(code, exitCodes.config);
    assert.match(stderr, /HTTPS_PROXY is this proxy itself/);
  }));

/** A client that only prints how it was started. */
function showing(place: Place, name: string, script: string): string {
  const client = join(place.folder, name);
  fs.writeFileSync(client, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return client;
}

test('two clients that are started at the same time share one proxy', () =>
  withProxy(async ({ place, client, env }, upstream) => {
    const argv = [
      'run',
      '-q',
      '--',
      process.execPath,
      client,
      '0',
      'ANTHROPIC_BASE_URL=/v1/messages',
    ];
    const ends = await Promise.all([1, 2, 3].map(() => start(place, argv, env).ended));
    for (const { code, stdout, stderr } of ends)
      assert.equal([code, stdout, stderr], [0, 'ANTHROPIC_BASE_URL 200\n', '']);
    assert.is(upstream.requests.length, 3);
  }));

test('opencode gets a versioned address for each provider that it has a key for', () =>
  withProxy(async ({ place, env }) => {
    const client = showing(
      place,
      'opencode',
      'echo "$ANTHROPIC_BASE_URL"; echo "$OPENCODE_CONFIG_CONTENT"',
    );
    const keys = {
      ...env,
      ANTHROPIC_API_KEY: 'mine',
      OPENCODE_CONFIG_CONTENT: '{"autoupdate": false}',
    };
    const { stdout } = await start(place, ['run', '-q', client, 'run', 'hi'], keys).ended;
    const [base = '', ...rest] = stdout.split('\n');
    assert.match(base, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    assert.equal(JSON.parse(rest.join('\n')), {
      autoupdate: false,
      provider: { anthropic: { options: { baseURL: base } } },
    });
  }));

test('pi gets an extension with the provider addresses, except for its own commands', () =>
  withProxy(async ({ place, env }) => {
    const client = showing(place, 'pi', 'printf "%s\\n" "$@"');
    const { stdout } = await start(place, ['run', '-q', client, '-p', 'hi'], env).ended;
    const [flag, file = '', ...words] = stdout.trimEnd().split('\n');
    assert.equal([flag, ...words], ['--extension', '-p', 'hi']);
    const { default: extend } = (await import(
      `data:text/javascript,${encodeURIComponent(fs.readFileSync(file, 'utf8'))}`
    )) as {
      default: (pi: object) => void;
    };
    const bases: string[] = [];
    extend({
      registerProvider: (name: string, { baseUrl }: { baseUrl: string }) =>
        bases.push(`${name} ${baseUrl.replace(/:\d+/, '')}`),
    });
    assert.equal(bases, [
      'anthropic http://127.0.0.1',
      'openai http://127.0.0.1/v1',
      'google http://127.0.0.1/v1beta',
    ]);
    const own = await start(place, ['run', '-q', client, 'install', 'x'], env).ended;
    assert.is(own.stdout, 'install\nx\n');
  }));

test('a client that reads no variables is started, with a hint on how to use svc with it', () =>
  withProxy(async ({ place, env }) => {
    const hint = /reads its address only from its own settings, so (?:perhaps )?it bypasses svc/;
    for (const [name, way] of [
      ['cn', '`svc integrate continue --apply` sets it.'],
      ['cline', '`svc integrate cline` shows what to set.'],
    ] as const) {
      const client = showing(place, name, 'exit 3');
      const { code, stderr } = await start(place, ['run', '-q', client], env).ended;
      assert.is(code, 3);
      assert.match(stderr, hint);
      assert.ok(stderr.includes(way), stderr);
    }
    const continueFile = join(place.folder, '.continue', 'config.yaml');
    const pid = fs.readFileSync(join(place.home, 'svc.pid'), 'utf8');
    const { url } = JSON.parse(pid) as { url: string };
    const file = join(place.folder, '.cline', 'data', 'settings', 'providers.json');
    fs.mkdirSync(join(file, '..'), { recursive: true });
    fs.writeFileSync(file, JSON.stringify({ baseUrl: `${url}/v1` }));
    fs.mkdirSync(join(continueFile, '..'));
    const model = `  - { name: m, provider: openai, model: gpt, apiBase: '${url}/v1' }`;
    fs.writeFileSync(continueFile, `name: c\nversion: 1.0.0\nmodels:\n${model}\n`, { mode: 0o600 });
    for (const name of ['cline', 'cn']) {
      const set = await start(place, ['run', '-q', join(place.folder, name)], env).ended;
      assert.is(set.stderr, '', name);
    }
  }));

test('the arguments after the client are passed to it, also without --', () =>
  withProxy(async ({ place, env }) => {
    const client = join(place.folder, 'client');
    fs.writeFileSync(client, '#!/bin/sh\nprintf "%s|" "$@"\n', { mode: 0o755 });
    const words = ['-p', 'hi', '--json', '--help', '--quiet', '--', '-x'];
    for (const separator of [[], ['--']]) {
      const argv = ['run', '-q', ...separator, client, ...words];
      const { code, stdout, stderr } = await start(place, argv, env).ended;
      assert.equal([code, stdout, stderr], [0, `${words.join('|')}|`, '']);
    }
    const wrong = await start(place, ['run', '--loud', client, '--json'], env).ended;
    assert.is(wrong.code, exitCodes.usage);
    assert.match(wrong.stderr, /svc run has no option --loud/);
    const help = await start(place, ['run', '--help'], env).ended;
    assert.match(help.stdout, /svc run/);
  }));

test('a missing program starts no proxy', () =>
  inPlace(async (place) => {
    for (const program of ['no-such-client', './no-such-client']) {
      const { code, stderr } = await start(place, ['run', program]).ended;
      assert.is(code, exitCodes.not_found);
      assert.match(stderr, `There is no program ${program}`);
      assert.not.match(stderr, 'is running in the background');
    }
    assert.is(runningInstance(place.home), undefined);
  }));

test('an unknown program after -- is reported', () =>
  withProxy(async ({ place, env }) => {
    const { code, stderr } = await start(place, ['run', '--', 'no-such-client'], env).ended;
    assert.is(code, exitCodes.not_found);
    assert.match(stderr, /There is no program no-such-client/);
  }));

test.run();
