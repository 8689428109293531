/** The config from a file and from a real git repository, applied only if valid and confirmed. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';
import { locationText } from './fetch.ts';
import { masked } from './masked.ts';

function makeHome() {
  const place = makePlace();
  const config = join(place.home, 'config.yaml');
  const shared = join(place.folder, 'shared.yaml');
  return {
    place,
    config,
    shared,
    now: () => (fs.existsSync(config) ? fs.readFileSync(config, 'utf8') : undefined),
    svc: (argv: readonly string[], typed = '') => {
      const stdin = new PassThrough();
      stdin.end(typed);
      return run(place, argv, { stdin });
    },
  };
}

test('a file is shown, applied only after confirmation, and stored as a copy', async () => {
  const { place, config, shared, now, svc } = makeHome();
  fs.writeFileSync(shared, 'compression:\n  mode: strict\n');
  for (const typed of ['', 'n\n']) {
    assert.is((await svc(['config', 'pull', 'shared.yaml'], typed)).code, exitCodes.cancelled);
    assert.not.ok(fs.existsSync(place.home), 'nothing is created');
  }
  const first = await svc(['config', 'pull', 'shared.yaml'], 'y\n');
  assert.is(first.code, 0, first.stderr);
  assert.match(first.stderr, '+  mode: strict');
  assert.is(now(), 'compression:\n  mode: strict\n');
  assert.is(fs.statSync(config).mode & 0o777, 0o600);

  fs.writeFileSync(config, 'compression:\n  mode: strict\nlogging:\n  level: debug\n');
  fs.writeFileSync(shared, 'providers:\n  messages:\n    api_key: sk-secret-1\n');
  const second = await svc(['config', 'sync', '--yes', '--json']);
  assert.is(second.code, 0, second.stderr);
  assert.not.match(second.stderr, 'sk-secret');
  assert.match(second.stderr, /\+ {4}api_key: \(secret [0-9a-f]{6}\)/);
  assert.match(second.stderr, 'changed here since it was fetched');
  const { outcome, backup } = JSON.parse(second.stdout) as { outcome: string; backup: string };
  assert.is(outcome, 'applied');
  assert.match(fs.readFileSync(backup, 'utf8'), 'level: debug');
  assert.is(fs.statSync(backup).mode & 0o777, 0o600);
  assert.match((await svc(['config', 'sync'])).stdout, 'is the same as in');
  place.dispose();
});

test('a diff hides every secret, in any notation, but shows that one has changed', () => {
  const shapeless = [
    'providers: { one: { api_key: hidden-a, headers: { x-tenant: hidden-b } } }',
    'security:\n  api_key: "hidden-c"',
    'providers:\n  one:\n    headers:\n      Authorization: Bearer hidden-d',
    'plugins:\n  - module: a.mjs\n    config: { token: [hidden-e, hidden-f] }',
    'security:\n  api_key: |\n    hidden-g\n    hidden-h\nserver: { port: 1 }',
    `# api_key: sk-ant-api03-${'hidden0'.repeat(14)}AA`,
    'shared: { redis_url: "redis://:hidden-i@127.0.0.1:6379" }',
    'outbound:\n  https_proxy: http://me:hidden-j@proxy.example:8080',
    'alerts: [{ name: a, notify: { webhook: "https://ops.example/hidden-l", command: [page] } }]',
    'ledger: { db: "postgresql://me:hidden@k@db.example/svc" }',
  ];
  for (const text of shapeless) {
    const printed = masked(text);
    assert.not.match(printed, 'hidden', text);
    assert.match(printed, /\(secret [0-9a-f]{6}\)/);
    assert.is.not(printed, masked(text.replaceAll('hidden', 'altered')));
  }
  assert.match(masked(shapeless.at(-3)!), /http:\/\/\(secret \w+\)@proxy\.example:8080/);
  const open =
    'server: { port: 9000 }\nsecurity: { api_key: "${KEY}" }\nbudget: { max_tokens: 5 }\n';
  assert.is(masked(open), open);
  assert.match(masked(shapeless[4]!), '\nserver: { port: 1 }');
  assert.is(locationText('https://me:hidden@host/a.git'), 'https://host/a.git');
});

test('a faulty file, a missing one, and a sync without a pull change nothing', async () => {
  const { place, shared, now, svc } = makeHome();
  assert.is((await svc(['config', 'sync', '--yes'])).code, exitCodes.not_found);
  for (const [text, reason] of [
    ['compression:\n  mode: tiny\n', 'compression.mode'],
    ['compresion:\n  mode: strict\n', 'compresion'],
    ['a: [', 'CONFIG_001|config'],
    ['server:\n  host: 0.0.0.0\n', 'key'],
  ] as const) {
    fs.writeFileSync(shared, text);
    const { code, stderr } = await svc(['config', 'pull', shared, '--yes']);
    assert.is(code, exitCodes.config, stderr);
    assert.match(stderr, new RegExp(reason));
    assert.is(now(), undefined);
  }
  assert.is((await svc(['config', 'pull', 'nowhere.yaml'])).code, exitCodes.not_found);
  assert.is((await svc(['config', 'pull', '--ref', '-x', shared])).code, exitCodes.usage);
  place.dispose();
});

test('a running proxy takes up the new file; if it refuses, the former file is restored', async () => {
  const { place, shared, now, svc } = makeHome();
  fs.writeFileSync(shared, 'compression:\n  mode: aggressive\n');
  assert.is((await svc(['start', '--background', '--port', '0'])).code, 0);
  const { code, stdout, stderr } = await svc(['config', 'pull', shared, '--yes', '--json']);
  assert.is(code, 0, stderr);
  assert.is((JSON.parse(stdout) as { reloaded: boolean }).reloaded, true);
  const status = JSON.parse((await svc(['status', '--json'])).stdout) as Record<string, unknown>;
  assert.match(JSON.stringify(status), 'aggressive');
  assert.match(now() ?? '', 'aggressive');
  fs.writeFileSync(join(place.folder, 'broken.mjs'), 'export default {');
  fs.writeFileSync(shared, `plugins: [{ module: ${place.folder}/broken.mjs }]\n`);
  const refused = await svc(['config', 'pull', shared, '--yes']);
  assert.is(refused.code, exitCodes.config, refused.stderr);
  assert.match(refused.stderr, 'The running proxy refuses it');
  assert.is(now(), 'compression:\n  mode: aggressive\n', 'the earlier file is restored');
  await svc(['stop', '--force']);
  place.dispose();
});

test('a repository: reads its file at a branch, follows no link out of it, runs no program', async () => {
  const { place, now, svc } = makeHome();
  const repository = join(place.folder, 'repo');
  const git = (...argv: readonly string[]) => {
    const own = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', repository];
    const { status, stderr } = spawnSync('git', [...own, ...argv], { encoding: 'utf8' });
    assert.is(status, 0, stderr);
  };
  fs.mkdirSync(join(repository, 'svc'), { recursive: true });
  git('init', '--quiet', '--initial-branch', 'main');
  fs.writeFileSync(join(repository, 'config.yaml'), 'compression:\n  mode: strict\n');
  fs.writeFileSync(join(place.folder, 'private.yaml'), 'compression:\n  mode: aggressive\n');
  fs.symlinkSync(join(place.folder, 'private.yaml'), join(repository, 'svc/link.yaml'));
  git('add', '.');
  git('commit', '--quiet', '-m', 'one');
  git('checkout', '--quiet', '-b', 'fast');
  fs.writeFileSync(join(repository, 'svc/fast.yaml'), 'compression:\n  mode: aggressive\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'two');
  git('checkout', '--quiet', 'main');

  const first = await svc(['config', 'pull', repository, '--yes', '--json']);
  assert.is(first.code, 0, first.stderr);
  assert.match((JSON.parse(first.stdout) as { commit: string }).commit, /^[0-9a-f]{40}$/);
  assert.match(now() ?? '', 'strict');
  const argv = ['config', 'pull', repository, '--ref', 'fast', '--path', 'svc/fast.yaml', '--yes'];
  assert.is((await svc(argv)).code, 0);
  assert.match(now() ?? '', 'aggressive');
  for (const [path, code] of [
    ['svc/link.yaml', exitCodes.forbidden],
    [`${'../'.repeat(12)}${place.folder}/private.yaml`, exitCodes.forbidden],
    ['none.yaml', exitCodes.not_found],
  ] as const)
    assert.is(
      (await svc(['config', 'pull', repository, '--path', path, '--yes'])).code,
      code,
      path,
    );
  const touched = join(place.folder, 'touched');
  const evil = await svc(['config', 'pull', `ext::sh -c touch% ${touched}`, '--yes']);
  assert.is.not(evil.code, 0);
  assert.not.ok(fs.existsSync(touched));
  const gone = await svc(['config', 'pull', `file://${place.folder}/gone.git`, '--yes']);
  assert.is(gone.code, exitCodes.bad_gateway);
  assert.match(gone.stderr, 'git cannot fetch it');
  assert.match(now() ?? '', 'aggressive');
  place.dispose();
});

test.run();
