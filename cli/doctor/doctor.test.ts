/** `svc doctor` on homes with one fault each, with real proxies and providers. */
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer, head, startUpstream } from '../../fixtures/upstream.ts';
import { jsonAnswer } from '../../fixtures/upstream/answer.ts';
import { pidFile } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

interface Result {
  readonly code: number;
  readonly findings: readonly { check: string; level: string; text: string; cure: string | null }[];
  readonly fixed: readonly string[];
  of(check: string): string;
}

/** Returns unused ports. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function examine(
  place: Place,
  argv: readonly string[] = ['--offline'],
  env: Readonly<Record<string, string>> = {},
  changes: Parameters<typeof run>[2] = {},
): Promise<Result> {
  const ran = await run(place, ['doctor', '--json', ...argv], {
    env: { ...place.env, ...env },
    ...changes,
  });
  const { findings, fixed, exit_code: code } = JSON.parse(ran.stdout);
  assert.is(ran.code, code, ran.stderr);
  return {
    code,
    findings,
    fixed,
    of: (check) =>
      (findings as Result['findings'])
        .filter((one) => one.check === check)
        .map(({ level, text }) => `${level}: ${text}`)
        .join('\n'),
  };
}

/** Starts a provider that answers everything with these bytes. */
const saying = (text: string) =>
  head(async (exchange) => {
    await exchange.write(Buffer.from(text));
    exchange.close();
  });

async function within(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  fs.mkdirSync(place.home, { mode: 0o700 });
  try {
    await use(place);
  } finally {
    place.dispose();
  }
}

test('with a healthy running proxy every check passes, and so does the exit code', () =>
  within(async (place) => {
    const upstream = await startUpstream();
    const env = {
      MSGPROV_BASE_URL: upstream.url,
      CHATPROV_BASE_URL: `${upstream.url}/api/paas/v4`,
      GENPROV_BASE_URL: upstream.url,
      MSGPROV_API_KEY: 'key-1',
      MSGPROV_OAUTH_TOKEN: 'sk-ant-oat01-token',
    };
    const proxy = start(place, ['serve', '--port', '0'], env);
    try {
      await proxy.prints(/listens on/);
      await run(place, ['integrate', 'claude', '--apply']);
      const result = await examine(place, [], env);
      assert.is(result.code, 0, JSON.stringify(result.findings));
      assert.match(result.of('Proxy'), /^ok: running on http/);
      // The test program has another version than the proxy.
      assert.match(result.of('Version'), /^warning: the proxy is .*, this is 9\.8\.7/);
      assert.match(result.of('Upstream'), /ok: messages answers/);
      assert.match(
        result.of('Upstream'),
        `ok: chat answers (${upstream.url}/api/paas/v4/chat/completions)`,
      );
      assert.match(result.of('Keys'), /^ok: MSGPROV_API_KEY is valid/m);
      assert.match(result.of('Keys'), /note: messages from MSGPROV_OAUTH_TOKEN; not tried: a sub/);
      assert.match(result.of('Ledger'), /^ok: /);
      assert.match(result.of('Clients'), /ok: Claude Code goes through svc/);
      assert.match(result.of('SQLite'), /^ok: 3\./);
      assert.not.match(JSON.stringify(result.findings), /key-1/);

      // Users start a bundle, which contains other parts of libraries.
      const shipped = await start(place, ['doctor'], env).ended;
      assert.is(shipped.code, 0, shipped.stdout);
      assert.match(shipped.stdout, /✓ Upstream +messages answers/);
      assert.match(shipped.stdout, /✓ Keys +MSGPROV_API_KEY is valid/);
      assert.match(shipped.stderr, /All is well|0 faults/);
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
      await upstream.close();
    }
  }));

test('an unreadable fleet file, and one with missing keys, are reported', () =>
  within(async (place) => {
    assert.is((await examine(place)).of('Fleet'), '');
    const file = join(place.home, 'fleet.yaml');
    const write = (text: string) => fs.writeFileSync(file, text, { mode: 0o600 });
    write(
      'node: desk\nmembers:\n  - { name: attic, url: "https://a.example", key_env: ATTIC_KEY }\n',
    );
    assert.match((await examine(place)).of('Fleet'), /^warning: .*attic.*ATTIC_KEY.*not set/);
    const set = await examine(place, ['--offline'], { ATTIC_KEY: 'svc_x' });
    assert.match(set.of('Fleet'), /^ok: 1 other machine/);
    write('members: [');
    assert.match((await examine(place)).of('Fleet'), /^fault: fleet\.yaml:1: /);
    write('members: 7');
    assert.match((await examine(place)).of('Fleet'), 'members must be a list');
  }));

test('a damaged file does not hide other faults', () =>
  within(async (place) => {
    for (const name of ['integrations.json', 'keys.json', 'routes.json'])
      fs.writeFileSync(join(place.home, name), 'junk{', { mode: 0o600 });
    const result = await examine(place);
    assert.match(result.of('Clients'), /^fault: Cannot read .*integrations\.json/);
    assert.match(result.of('Proxy keys'), /^fault: .*keys\.json is not used: it is not JSON/);
    assert.match(result.of('Rules'), /^fault: .*routes\.json: it is not JSON/);
    assert.match(result.of('SQLite'), /^ok/);
  }));

test('a file in place of the home folder is reported', () =>
  within(async (place) => {
    fs.rmSync(place.home, { recursive: true });
    fs.writeFileSync(place.home, '');
    const result = await examine(place);
    assert.match(result.of('Home folder'), /is not a folder/);
    assert.match(result.of('SQLite'), /^ok/);
    fs.rmSync(place.home);
  }));

test('no proxy: an address that this machine does not have is not reported as a taken port', () =>
  within(async (place) => {
    const result = await examine(place, ['--offline'], {
      SVC_HOST: '192.0.2.1',
      SVC_OPEN_BIND: '1',
      SVC_PORT: '8766',
    });
    assert.match(
      result.of('Ports'),
      /^fault: Cannot listen on 192\.0\.2\.1:8766: this machine has no such address/,
    );
  }));

test('no proxy: a client that points to it is reported, and a taken port is named', () =>
  within(async (place) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const env = { SVC_PORT: String(port), SVC_WS_PORT: String(await freePort()) };
    await run(place, ['integrate', 'claude', '--apply'], { env: { ...place.env, ...env } });
    const result = await examine(place, ['--offline'], env);
    assert.is(result.code, exitCodes.unavailable);
    assert.match(result.of('Proxy'), /^fault: svc is not running/);
    assert.match(
      result.of('Ports'),
      new RegExp(`^fault: port ${port} is taken by .*pid ${process.pid}`),
    );
    assert.match(result.of('Clients'), /fault: Claude Code goes through svc, which is not running/);
    for (const { level, cure } of result.findings)
      if (level === 'fault' || level === 'warning') assert.ok(cure);
    await new Promise((resolve) => taken.close(resolve));
    // The proxy has moved since.
    const moved = await examine(place, ['--offline'], { SVC_PORT: String(await freePort()) });
    assert.match(moved.of('Clients'), /warning: Claude Code uses a former address of svc/);
  }));

test('a proxy configured for an IPv6 address is looked up at that address', () =>
  within(async (place) => {
    const examined = await examine(place, ['--offline'], { SVC_HOST: '::1' });
    assert.match(examined.of('Proxy'), 'svc is not running');
    assert.match(examined.of('Clients'), /^note: /);
  }));

test('--fix makes files private, removes a stale pid file and creates the folder', () =>
  within(async (place) => {
    fs.writeFileSync(join(place.home, 'config.yaml'), '{}\n', { mode: 0o600 });
    fs.mkdirSync(join(place.home, 'logs'));
    fs.chmodSync(join(place.home, 'logs'), 0o755);
    fs.writeFileSync(join(place.home, 'logs/svc.log'), 'x');
    fs.chmodSync(join(place.home, 'logs/svc.log'), 0o644);
    const stale = { pid: 999_999, startTime: 'x', nonce: 'n', cwd: '/', flags: {} };
    fs.writeFileSync(pidFile(place.home), JSON.stringify(stale), { mode: 0o600 });

    const before = await examine(place);
    assert.match(before.of('Home folder'), /^warning: others may read .*logs and 1 other/);
    assert.match(before.of('Pid file'), /^warning: .* names process 999999/);
    assert.is(fs.statSync(join(place.home, 'logs')).mode & 0o777, 0o755);

    const after = await examine(place, ['--offline', '--fix']);
    assert.is(after.fixed.length, 2);
    assert.match(after.of('Home folder'), /^ok/);
    assert.is(after.of('Pid file'), '');
    assert.not.ok(fs.existsSync(pidFile(place.home)));
    assert.is(fs.statSync(join(place.home, 'logs')).mode & 0o777, 0o700);
    assert.is(fs.statSync(join(place.home, 'logs/svc.log')).mode & 0o777, 0o600);

    fs.rmSync(place.home, { recursive: true });
    assert.match((await examine(place)).of('Home folder'), /^warning: .* does not exist yet/);
    assert.not.ok(fs.existsSync(place.home), 'a check creates nothing');
    await examine(place, ['--offline', '--fix']);
    assert.is(fs.statSync(place.home).mode & 0o777, 0o700);
  }));

test('a wrong configuration is the most severe finding', () =>
  within(async (place) => {
    fs.writeFileSync(join(place.home, 'config.yaml'), 'server: { port: none }\nfoo: 1\n', {
      mode: 0o600,
    });
    const result = await examine(place);
    assert.is(result.code, exitCodes.config);
    assert.match(result.of('Configuration'), /server\.port[\s\S]*foo/);
  }));

test('prices that prevent a start are a fault, in the doctor and in config validate', () =>
  within(async (place) => {
    const file = join(place.home, 'prices.json');
    fs.writeFileSync(file, '[{ "model": "new", "input": "much" }]', { mode: 0o600 });
    const found = await examine(place, ['--offline']);
    assert.match(found.of('Prices'), `fault: ${file}: entry 1: 'input'`);
    const validated = await run(place, ['config', 'validate']);
    assert.is(validated.code, exitCodes.config);
    assert.match(validated.stdout, `${file}: entry 1: 'input'`);
    const started = await run(place, ['serve', '--port', '0']);
    assert.is(started.code, exitCodes.config);
    assert.match(started.stderr, `${file}: entry 1: 'input'`);
  }));

test('a damaged ledger, a refused key and an unreachable provider are faults', () =>
  within(async (place) => {
    fs.writeFileSync(join(place.home, 'monitor.db'), Buffer.alloc(8192, 7), { mode: 0o600 });
    const upstream = await startUpstream();
    upstream.script(undefined, saying('HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}'));
    const env = {
      MSGPROV_BASE_URL: upstream.url,
      MSGPROV_API_KEY: 'key-1',
      SVC_DB: join(place.home, 'monitor.db'),
    };
    const refused = await examine(place, [], env);
    assert.match(refused.of('Keys'), /^fault: messages refuses MSGPROV_API_KEY/);
    assert.match(refused.of('Ledger'), /^fault: /);
    await upstream.close();
    const gone = await examine(place, [], env);
    assert.match(gone.of('Upstream'), /fault: messages cannot be reached .*ECONNREFUSED/);
    assert.match(gone.of('Keys'), /^warning: MSGPROV_API_KEY could not be tried/);
    const offline = await examine(place, ['--offline'], env);
    assert.match(offline.of('Keys'), /^note: messages from MSGPROV_API_KEY; not tried: --offline/);
  }));

test('a key refused with 400, as Google does, is a fault; any other 400 is not', () =>
  within(async (place) => {
    const env = (url: string) => ({ GENPROV_BASE_URL: url, GENPROV_API_KEY: 'key-1' });
    const reason = (of: string) => [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: of },
    ];
    const refusals = [
      { message: 'API key not valid. Please pass a valid API key.' },
      { message: 'API key expired. Please renew the API key.' },
      { message: 'Please pass another one.', details: reason('API_KEY_INVALID') },
    ];
    const other = { message: 'Invalid page size.', details: reason('PAGE_SIZE') };
    for (const refusal of [...refusals, other]) {
      const upstream = await startUpstream();
      const error = { code: 400, status: 'INVALID_ARGUMENT', ...refusal };
      upstream.script(
        undefined,
        answer(() => jsonAnswer(400, { error })),
      );
      const found = (await examine(place, [], env(upstream.url))).of('Keys');
      const expected =
        refusal === other
          ? /^warning: GENPROV_API_KEY could not be tried: .*Invalid page size/
          : /^fault: generative refuses GENPROV_API_KEY/;
      assert.match(found, expected, refusal.message);
      await upstream.close();
    }
  }));

test('machine: proxy variables without loopback, an old Node, and a wrong clock are reported', () =>
  within(async (place) => {
    const proxied = await examine(place, ['--offline'], { HTTPS_PROXY: 'http://p:1' });
    assert.match(proxied.of('Proxy variables'), /^warning: HTTPS_PROXY set/);
    const exempt = { https_proxy: 'http://p:1', no_proxy: 'localhost,127.0.0.1' };
    assert.match((await examine(place, ['--offline'], exempt)).of('Proxy variables'), /^ok/);
    const old = await examine(place, ['--offline'], {}, { nodeVersion: '18.20.0' });
    assert.match(old.of('Node'), /^fault: Node 18\.20\.0 is too old/);

    const upstream = await startUpstream();
    upstream.script(
      undefined,
      saying('HTTP/1.1 200 OK\r\ndate: Wed, 01 Jan 2020 00:00:00 GMT\r\n\r\n'),
    );
    const skewed = await examine(place, [], {
      MSGPROV_BASE_URL: upstream.url,
      CHATPROV_BASE_URL: upstream.url,
      GENPROV_BASE_URL: upstream.url,
    });
    assert.match(skewed.of('Clock'), /^warning: .* seconds ahead of the providers/);
    await upstream.close();
  }));

test('the text output has a line for each finding, its remedy, and what to do next', () =>
  within(async (place) => {
    // Somebody who runs the tests may run svc as well.
    const env = { SVC_PORT: String(await freePort()), SVC_WS_PORT: String(await freePort()) };
    const { stdout, stderr } = await run(place, ['doctor', '--offline'], {
      env: { ...place.env, ...env },
    });
    assert.match(stdout, /✗ Proxy +svc is not running\n +> `svc start --background` starts it\.\n/);
    assert.match(stderr, /1 fault, 0 warnings/);
  }));

test('the last lines name each fault again, with its remedy', () =>
  within(async (place) => {
    fs.writeFileSync(join(place.home, 'fleet.yaml'), '- not a fleet\n', { mode: 0o600 });
    const { stdout } = await run(place, ['doctor', '--offline']);
    const last = stdout
      .slice(stdout.lastIndexOf('\n\n') + 2)
      .trimEnd()
      .split('\n');
    const { findings } = await examine(place);
    const faults = findings.filter(({ level }) => level === 'fault');
    assert.ok(faults.length >= 2, stdout);
    assert.equal(
      last,
      faults.flatMap(({ check, text, cure }) => [`✗ ${check}: ${text}`, `  > ${cure}`]),
    );
  }));

test.run();
