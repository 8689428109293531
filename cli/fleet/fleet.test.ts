/**
 * The fleet commands, with real proxies that have their own keys, and with servers that are no
 * proxies.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { objectIn } from '../../fixtures/cli/effects/effect.ts';
import { freePort } from '../../fixtures/cli/live.ts';
import type { Json } from '../../fixtures/cli/live.ts';
import { inPlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { withServer } from '../../fixtures/cli/server.ts';
import { findTerminal, typeInTerminal } from '../../fixtures/cli/terminal.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { toNodeName } from './command.ts';

const KEY = 'svc_attic-key-0123456789';
const LOCKED = `security: { require_api_key: true, api_key: ${KEY} }`;

const fileIn = ({ home }: Place) => join(home, 'fleet.yaml');
const typed = (text: string) => {
  const stdin = new PassThrough();
  stdin.end(text);
  return stdin;
};

async function svc(place: Place, ...argv: string[]) {
  const ran = await run(place, argv);
  assert.is(ran.code, 0, `${argv.join(' ')}: ${ran.stderr}`);
  return ran;
}

/** Returns the machines of `fleet status` by name, and the exit code. */
async function status(place: Place, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await run(place, ['fleet', 'status', '--json'], {
    env: { ...place.env, ...env },
  });
  const machines = (JSON.parse(stdout) as { machines: readonly Json[] }).machines;
  return { code, stdout, stderr, of: new Map(machines.map((one) => [one['node'], one])) };
}

test('init names the machine once, in a private file', () =>
  inPlace(async (place) => {
    process.umask(0);
    const first = await svc(place, 'fleet', 'init', '--node', 'desk');
    assert.match(first.stdout, 'This machine is desk from now on');
    assert.match(first.stderr, 'svc fleet add NAME URL --key-stdin');
    assert.is(statSync(fileIn(place)).mode & 0o777, 0o600);
    assert.is(statSync(place.home).mode & 0o777, 0o700);
    const { ino } = statSync(fileIn(place));
    for (const again of [['--node', 'desk'], []])
      assert.match((await svc(place, 'fleet', 'init', ...again)).stdout, 'nothing was changed');
    assert.is(statSync(fileIn(place)).ino, ino);
    const renamed = await svc(place, 'fleet', 'init', '--node', 'loft', '--json');
    assert.equal(JSON.parse(renamed.stdout), {
      node: 'loft',
      former: 'desk',
      changed: true,
      file: '~/home/fleet.yaml',
    });
    const bad = await run(place, ['fleet', 'init', '--node', 'a b']);
    assert.is(bad.code, 2);
    const other = await run(place, ['fleet', 'init'], { env: { ...place.env, SVC_NODE: 'attic' } });
    assert.match(other.stderr, 'Rows carry attic nevertheless');
  }));

test('the host name is converted to a valid machine name', () => {
  assert.is(toNodeName('desk.lan'), 'desk');
  assert.is(toNodeName('Anna’s MacBook'), 'Anna-s-MacBook');
  assert.is(toNodeName('__x'), 'x');
  for (const none of ['', '.', '’’', '---']) assert.is(toNodeName(none), 'machine');
  assert.is(toNodeName('x'.repeat(100)).length, 64);
});

test('members are added and removed, and a key is never printed', () =>
  inPlace(async (place) => {
    await svc(place, 'fleet', 'init', '--node', 'desk');
    const added = await run(
      place,
      ['fleet', 'add', 'attic', 'https://attic.example/svc/', '--key-stdin'],
      { stdin: typed(`${KEY}\n`) },
    );
    assert.is(added.code, 0, added.stderr);
    await svc(place, 'fleet', 'add', 'cellar', 'http://127.0.0.1:9', '--key-env', 'CELLAR_KEY');
    await svc(place, 'fleet', 'add', 'shed', 'http://10.0.0.7:8766', '--allow-insecure');
    assert.match(readFileSync(fileIn(place), 'utf8'), KEY);
    assert.is(statSync(fileIn(place)).mode & 0o777, 0o600);
    const listed = await svc(place, 'fleet', 'list', '--json');
    assert.equal(JSON.parse(listed.stdout), {
      node: 'desk',
      members: [
        ['attic', 'https://attic.example/svc', 'kept', null, false],
        ['cellar', 'http://127.0.0.1:9', null, 'CELLAR_KEY', false],
        ['shed', 'http://10.0.0.7:8766', null, null, true],
      ].map(([node, url, key, key_env, allow_insecure]) => ({
        node,
        url,
        key,
        key_env,
        allow_insecure,
      })),
    });
    const table = await svc(place, 'fleet', 'list');
    assert.match(table.stdout, /cellar +http:\/\/127\.0\.0\.1:9 +its key in CELLAR_KEY/);
    const before = readFileSync(fileIn(place), 'utf8');
    for (const name of ['attic', 'desk']) {
      const twice = await run(place, ['fleet', 'add', name, 'https://x.example']);
      assert.equal([twice.code, /already/.test(twice.stderr)], [6, true]);
    }
    assert.is(readFileSync(fileIn(place), 'utf8'), before);
    const removed = await svc(place, 'fleet', 'remove', 'attic');
    assert.not.match(readFileSync(fileIn(place), 'utf8'), KEY);
    const unknown = await run(place, ['fleet', 'remove', 'celler']);
    assert.is(unknown.code, 5);
    assert.match(unknown.stderr, 'cellar');
    for (const { stdout, stderr } of [added, listed, table, removed])
      assert.not.match(stdout + stderr, KEY);
  }));

test('machines that are added at the same moment are all stored', () =>
  inPlace(async (place) => {
    const names = Array.from({ length: 8 }, (_, at) => `m${at}`);
    await Promise.all([
      svc(place, 'fleet', 'init', '--node', 'desk'),
      ...names.map((name) => svc(place, 'fleet', 'add', name, `https://${name}.example`)),
    ]);
    const listed = JSON.parse((await svc(place, 'fleet', 'list', '--json')).stdout) as Json;
    assert.is(listed['node'], 'desk');
    const added = (listed['members'] as readonly Json[]).map(({ node }) => String(node));
    assert.equal(new Set(added), new Set(names));
    assert.is(added.length, names.length);
    await Promise.all(names.slice(1).map((name) => svc(place, 'fleet', 'remove', name)));
    const left = JSON.parse((await svc(place, 'fleet', 'list', '--json')).stdout) as Json;
    assert.equal(
      (left['members'] as readonly Json[]).map(({ node }) => node),
      ['m0'],
    );
  }));

test('a typed key is not echoed', () =>
  inPlace(async (place) => {
    const terminal = findTerminal();
    if (terminal === undefined) return;
    const typing = typeInTerminal(
      terminal,
      place,
      ['fleet', 'add', 'attic', 'https://a.example', '--key-stdin'],
      { env: {} },
    );
    await typing.shows(/Proxy key of attic/);
    await new Promise((resolve) => setTimeout(resolve, 50));
    typing.press(`${KEY}\r`);
    const { code, screen } = await typing.ended;
    assert.is(code, 0, screen);
    assert.not.match(screen, KEY);
    assert.match(readFileSync(fileIn(place), 'utf8'), KEY);
  }));

const BAD_MEMBERS: readonly (readonly [argv: readonly string[], says: RegExp, code?: number])[] = [
  [['a b', 'https://x.example'], /not a valid machine name/],
  [['../x', 'https://x.example'], /not a valid machine name/],
  [['\u001b[2J', 'https://x.example'], /not a valid machine name/],
  [['x', 'attic'], /not a URL/],
  [['x', 'ftp://attic.example'], /expected https: or http:/],
  [['x', 'https://user:hidden-word@attic.example'], /may not contain a user or a password/],
  [['x', 'https://attic.example/?key=hidden-word'], /query/],
  [['x', 'http://attic.example'], /plain http: would send keys.*--allow-insecure/],
  [['x', 'http://192.168.1.5:8766'], /plain http: would send keys/],
  [
    ['x', 'https://x.example', '--key-env', 'NOT A NAME'],
    /no name of a variable|not a name of a variable/,
  ],
  [['x', 'https://x.example', '--key-env', 'A', '--key-stdin'], /two ways/, 2],
];

for (const [argv, says, code = 8] of BAD_MEMBERS)
  test(`add ${JSON.stringify(argv)} is refused`, () =>
    inPlace(async (place) => {
      const ran = await run(place, ['fleet', 'add', ...argv]);
      assert.is(ran.code, code, ran.stderr);
      assert.match(ran.stderr, says);
      for (const hidden of ['hidden-word', '\u001b[2J']) assert.not.match(ran.stderr, hidden);
      assert.is(existsSync(fileIn(place)), false);
    }));

test('a missing or malformed key is refused', () =>
  inPlace(async (place) => {
    for (const [text, code] of [
      ['', 130],
      ['\n', 130],
      ['two words', 8],
      ['schlüssel', 8],
    ] as const) {
      const argv = ['fleet', 'add', 'x', 'https://x.example', '--key-stdin'];
      assert.is((await run(place, argv, { stdin: typed(text) })).code, code, text);
    }
    assert.is(existsSync(fileIn(place)), false);
  }));

test('a faulty fleet.yaml is reported and never overwritten', () =>
  inPlace(async (place) => {
    mkdirSync(place.home, { mode: 0o700 });
    for (const text of [
      'node: [',
      '- a',
      'node: "a b"',
      'nodes: x',
      'members: x',
      'members: [{ name: a }]',
      `members: [{ name: a, url: "https://a.example", keys: ${KEY} }]`,
      'members: [{ name: a, url: "http://a.example" }]',
      'members: [{ name: a, url: "https://a.example" }, { name: a, url: "https://b.example" }]',
    ]) {
      writeFileSync(fileIn(place), text, { mode: 0o600 });
      for (const argv of [['list'], ['status'], ['init'], ['add', 'b', 'https://b.example']]) {
        const ran = await run(place, ['fleet', ...argv]);
        assert.is(ran.code, 4, `${argv.join(' ')} of ${text}: ${ran.stderr}`);
        assert.match(ran.stderr, 'fleet.yaml');
        assert.not.match(ran.stderr, KEY);
      }
      assert.is(readFileSync(fileIn(place), 'utf8'), text);
    }
  }));

test('status of an empty fleet, and of this machine alone', () =>
  inPlace(async (place) => {
    const empty = await svc(place, 'fleet', 'status');
    assert.match(empty.stderr, 'The fleet is empty');
    await svc(place, 'fleet', 'init', '--node', 'desk');
    const silent = await status(place);
    assert.is(silent.code, 3);
    assert.match(String(silent.of.get('desk')?.['error']), 'not running');
    const proxy = start(place, ['serve', '--port', '0'], { SVC_WS_PORT: '0' });
    try {
      await proxy.prints(/listens on http/);
      const { code, of } = await status(place);
      assert.is(code, 0);
      assert.equal([of.get('desk')?.['this_machine'], of.get('desk')?.['status']], [true, 'ok']);
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
  }));

test('status queries all machines at once; each failure has its cause, and no key is shown', () =>
  withProxy({ yaml: LOCKED, env: { SVC_NODE: 'attic' } }, (attic) =>
    withProxy({}, (shed) =>
      inPlace(async (place) => {
        const nonsense: RequestListener = (request, response) => {
          // It repeats the key in every way it can.
          const key = String(request.headers['x-svc-key'] ?? '');
          response.setHeader('content-type', 'application/json');
          response.end(
            request.url === '/health'
              ? `{"status":"\\u001b[31m${key}","version":"\\u0073vc_${key.slice(4)}","reasons":["${key}",7,null]}`
              : `{"today":{"requests":"many"},"error":"${key}"}`,
          );
        };
        const seen: string[] = [];
        // Machines after it in the list were queried while it was waited for.
        const askedMeanwhile: boolean[] = [];
        const slow: RequestListener = (_request, response) => {
          response.on('close', () => askedMeanwhile.push(seen.length > 0));
          response.writeHead(200);
          response.write('{');
        };
        await withServer(slow, (slowUrl) =>
          withServer(nonsense, (nonsenseUrl) =>
            withServer(
              (request, response) => {
                seen.push(request.url ?? '');
                response.writeHead(302, { location: `${nonsenseUrl}${request.url}` }).end();
              },
              async (movedUrl) => {
                for (let count = 0; count < 2; count += 1)
                  await exchange(attic.proxy.port, {
                    body: json(MESSAGE),
                    headers: { 'x-svc-key': KEY },
                  });
                await attic.rows(2);
                const add = async (name: string, url: string, key = KEY) => {
                  const argv = ['fleet', 'add', name, url, '--key-stdin'];
                  const ran = await run(place, argv, { stdin: typed(key) });
                  assert.is(ran.code, 0, ran.stderr);
                };
                await add('attic', attic.proxy.url);
                await add('wrong', attic.proxy.url, 'svc_another-key');
                await svc(place, 'fleet', 'add', 'keyless', attic.proxy.url);
                await svc(
                  place,
                  'fleet',
                  'add',
                  'unset',
                  attic.proxy.url,
                  '--key-env',
                  'ATTIC_KEY',
                );
                await svc(place, 'fleet', 'add', 'shed', shed.proxy.url);
                await add('down', `http://127.0.0.1:${await freePort()}`);
                await add('slow', slowUrl);
                await add('odd', nonsenseUrl);
                await add('moved', movedUrl);
                const { code, stdout, stderr, of } = await status(place);
                assert.ok(askedMeanwhile.length > 0 && askedMeanwhile.every(Boolean));
                assert.is(code, 3);
                assert.match(stderr, '7 of 9 machines did not answer completely');
                const errorOf = (name: string) => String(of.get(name)?.['error']);
                assert.equal(of.get('attic')?.['error'], null);
                assert.is(of.get('attic')?.['status'], 'ok');
                assert.is(of.get('attic')?.['version'], '0.0.0-test');
                assert.is(objectIn(of.get('attic')?.['today'])['requests'], 2);
                assert.is(objectIn(of.get('shed')?.['today'])['requests'], 0);
                assert.match(errorOf('wrong'), 'it refuses the key');
                assert.is(of.get('wrong')?.['version'], '0.0.0-test');
                assert.is(of.get('wrong')?.['today'], null);
                assert.match(errorOf('keyless'), 'it asks for a key');
                assert.match(errorOf('unset'), 'ATTIC_KEY is not set');
                assert.match(errorOf('down'), 'ECONNREFUSED');
                assert.match(errorOf('slow'), 'no answer within 5 s');
                assert.match(errorOf('odd'), 'not as an svc proxy');
                assert.match(errorOf('moved'), 'redirects');
                assert.equal(seen.toSorted(), ['/health', '/stats']);
                assert.not.match(stdout + stderr, KEY);
                assert.not.match(stdout + stderr, '\u001b[31m');

                const table = await run(place, ['fleet', 'status']);
                assert.is(table.code, 3);
                assert.match(table.stdout, /attic +http:\/\/127\.0\.0\.1:\d+ +ok +0\.0\.0-test/);
                assert.not.match(table.stdout + table.stderr, KEY);
                assert.not.match(table.stdout + table.stderr, '\u001b[31m');
                const env = { ATTIC_KEY: KEY };
                assert.is((await status(place, env)).of.get('unset')?.['error'], null);

                for (const name of ['down', 'slow', 'odd', 'moved'])
                  await svc(place, 'fleet', 'remove', name);
                assert.is((await status(place)).code, 7, 'only keys are wrong');
                for (const name of ['wrong', 'keyless', 'unset'])
                  await svc(place, 'fleet', 'remove', name);
                assert.is((await status(place)).code, 0);
              },
            ),
          ),
        );
      }),
    ),
  ));

test.after(closeClients);
test.run();
