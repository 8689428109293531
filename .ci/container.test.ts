/**
 * The Containerfile, without a container: its structure, and the commands of its last stage, run
 * here.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run, start } from '../fixtures/cli/run.ts';
import { projectRoot } from '../fixtures/paths.ts';

const lines = readFileSync(join(projectRoot, 'Containerfile'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
const last = lines.slice(lines.findLastIndex(([word]) => word === 'FROM'));
const argumentOf = (word: string) => last.find(([first]) => first === word)?.[1] ?? '';
const environment = () =>
  Object.fromEntries(
    argumentOf('ENV')
      .split(' ')
      .map((one) => one.split('=')),
  );

test('the image has two stages, and the second holds only what was installed', () => {
  const from = lines.filter(([word]) => word === 'FROM').map(([, image]) => image);
  assert.equal(from, ['node:${NODE}-bookworm AS build', 'node:${NODE}-bookworm-slim']);
  assert.match(argumentOf('COPY'), /^--from=build /);
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const [, command] of lines.filter(([word]) => word === 'RUN')) {
    const [, script] = /npm run (\S+)/.exec(command) ?? [];
    if (script !== undefined) assert.ok(script in scripts, script);
  }
  const ignored = readFileSync(join(projectRoot, '.containerignore'), 'utf8').trim().split('\n');
  assert.equal(ignored, ['.git', 'dist', 'node_modules']);
  assert.ok(
    existsSync(join(projectRoot, 'package-lock.json')),
    'for the build, which installs from it',
  );
});

test('the container runs as an unprivileged user whose home is in the volume', () => {
  const words = last.map(([word]) => word);
  assert.is(argumentOf('USER'), 'node');
  assert.ok(
    words.lastIndexOf('RUN') < words.indexOf('USER'),
    'that user creates nothing in the image',
  );
  assert.is(argumentOf('VOLUME'), environment()['SVC_HOME']);
  assert.is(argumentOf('EXPOSE'), '8766 8767');
});

test('the command requires a key and starts the proxy, and its health check succeeds', async () => {
  const place = makePlace();
  const env = { SVC_HOST: environment()['SVC_HOST'] ?? '', SVC_PORT: '0', SVC_WS_PORT: '0' };
  const argv = JSON.parse(argumentOf('CMD')) as readonly string[];
  const [, , check] = /(CMD) (\[.*\])$/.exec(argumentOf('HEALTHCHECK')) ?? [];
  const [program, ...health] = JSON.parse(check ?? '[]') as readonly string[];
  assert.equal([program, JSON.parse(argumentOf('ENTRYPOINT'))], ['svc', ['svc']]);
  try {
    const refused = await start(place, argv, env).ended;
    assert.is.not(refused.code, 0);
    assert.match(refused.stderr, 'svc auth --generate');
    assert.is.not((await run(place, health)).code, 0);
    const made = await run(place, ['auth', '--generate', '--label', 'clients', '--json']);
    const { key } = JSON.parse(made.stdout) as { readonly key: string };
    const proxy = start(place, argv, env);
    try {
      const [, port] = await proxy.prints(/listens on http:\S+:(\d+)/);
      assert.is((await run(place, health)).code, 0);
      const outside = { 'x-forwarded-for': '203.0.113.9' };
      const ask = (headers: Record<string, string>) =>
        fetch(`http://127.0.0.1:${port}/stats`, { headers });
      assert.is((await ask(outside)).status, 401);
      assert.is((await ask({ ...outside, 'x-svc-key': key })).status, 200);
    } finally {
      proxy.child.kill('SIGTERM');
      assert.is((await proxy.ended).code, 0);
    }
  } finally {
    place.dispose();
  }
});

test.run();
