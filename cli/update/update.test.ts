/** Checks for a newer version through npm, which a program on the path simulates. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PassThrough } from 'node:stream';
import { exitCodes } from '../exit.ts';
import { rememberRewritten } from '../../fixtures/cli/remembered-conversations.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { isNewer } from './installed.ts';

/** Records each call, and answers `view` with the content of the file next to it. */
const NPM = `#!${process.execPath}
const fs = require('node:fs');
const { join } = require('node:path');
const here = (name) => join(__dirname, name);
fs.appendFileSync(here('calls'), process.argv.slice(2).join(' ') + '\\n');
if (process.argv[2] === 'root') console.log(here('../lib/node_modules'));
if (process.argv[2] === 'view') {
  const answer = JSON.parse(fs.readFileSync(here('answer'), 'utf8'));
  console.log(JSON.stringify(answer));
  process.exit(answer.error === undefined ? 0 : 1);
}
if (process.argv[2] === 'install' && fs.existsSync(here('full'))) {
  console.error('npm error code ENOSPC');
  process.exit(228);
}
`;

const BIN = { svc: 'dist/app/main.js' };

/** Returns a machine on which npm has installed svc 1.2.3 globally. */
function installation(answer: unknown, folder = 'lib/node_modules/svc') {
  const place = makePlace();
  const root = join(place.folder, folder);
  const bin = join(place.folder, 'bin');
  fs.mkdirSync(join(root, 'dist/app'), { recursive: true });
  fs.mkdirSync(bin);
  const text = JSON.stringify({ name: 'svc', version: '1.2.3', bin: BIN });
  fs.writeFileSync(join(root, 'package.json'), text);
  fs.writeFileSync(join(root, 'dist/app/main.js'), '');
  fs.writeFileSync(join(bin, 'npm'), NPM, { mode: 0o755 });
  fs.writeFileSync(join(bin, 'answer'), JSON.stringify(answer));
  const entry = join(root, 'dist/app/main.js');
  return {
    place,
    root,
    bin,
    update: (argv: readonly string[], typed = '') => {
      const stdin = new PassThrough();
      stdin.end(typed);
      return run(place, ['update', ...argv], { entry, env: { ...place.env, PATH: bin }, stdin });
    },
    installs: () =>
      fs
        .readFileSync(join(bin, 'calls'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('install')),
  };
}

test('a newer version is shown, and installed only after confirmation', async () => {
  const { place, update, installs } = installation({ name: 'svc', version: '1.10.0', bin: BIN });
  const checked = await update(['--check']);
  assert.is(checked.code, 1);
  assert.match(
    checked.stdout,
    /^svc 1\.10\.0 is available; this is 1\.2\.3\. .*npm install -g svc@1\.10\.0$/m,
  );
  // Neither the end of input nor a no counts as a yes.
  for (const typed of ['', 'n\n']) assert.is((await update([], typed)).code, exitCodes.cancelled);
  assert.equal(installs(), []);
  assert.is((await update([], 'y\n')).code, 0);
  await rememberRewritten(place.home, 'new');
  await rememberRewritten(place.home, 'old', 2);
  const { code, stdout, stderr } = await update(['--yes', '--json']);
  assert.match(stderr, /Conversations of the last day .*: 1\. They .*continue as before/);
  assert.is(code, 0);
  assert.equal(JSON.parse(stdout), {
    installed: '1.2.3',
    latest: '1.10.0',
    newer: true,
    command: 'npm install -g svc@1.10.0',
    updated: true,
    restart_needed: false,
    signed_conversations: 1,
  });
  const line = 'install -g --no-fund --no-audit svc@1.10.0';
  assert.equal(installs(), [line, line]);
  place.dispose();
});

test('reports no newer version, another program of that name, and a missing package', async () => {
  for (const [answer, expected] of [
    [{ version: '1.2.3', bin: BIN }, /^svc 1\.2\.3 is the newest version$/m],
    [{ version: '1.2.3-rc.1', bin: BIN }, /^svc 1\.2\.3 is the newest version$/m],
    [{ version: '9.0.0', bin: { svc: 'cli.js' } }, /has no package of this program$/m],
    [{ version: '9.0.0; rm -rf /', bin: BIN }, /has no package of this program$/m],
    [{ error: { code: 'E404' } }, /has no package of this program$/m],
  ] as const) {
    const { place, update, installs } = installation(answer);
    const { code, stdout, stderr } = await update(['--yes']);
    assert.is(code, 0, stderr);
    assert.match(stdout, expected);
    assert.is((await update(['--check'])).code, 0);
    assert.equal(installs(), []);
    place.dispose();
  }
});

test('a missing network, a missing npm and a failing npm are reported with cause and remedy', async () => {
  const offline = installation({ error: { code: 'ENOTFOUND' } });
  const first = await offline.update(['--check']);
  assert.is(first.code, exitCodes.bad_gateway);
  assert.match(first.stderr, /The package registry does not answer \(ENOTFOUND\)\n.*npm config/);
  fs.rmSync(join(offline.bin, 'npm'));
  const second = await offline.update([]);
  assert.is(second.code, exitCodes.not_found);
  assert.match(second.stderr, 'npm is not on the path');
  offline.place.dispose();

  const full = installation({ version: '2.0.0', bin: BIN });
  fs.writeFileSync(join(full.bin, 'full'), '');
  const third = await full.update(['--yes']);
  assert.is(third.code, exitCodes.config);
  assert.match(third.stderr, /npm could not install svc@2\.0\.0:\n {2}npm error code ENOSPC/);
  assert.match(third.stderr, 'The installed version stays.');
  full.place.dispose();
});

test('a checkout and a project dependency are not updated', async () => {
  const project = installation({ version: '2.0.0', bin: BIN }, 'project/node_modules/svc');
  const { code, stdout } = await project.update([]);
  assert.is(code, 0);
  assert.match(
    stdout,
    'npm install svc@2.0.0 in the project that contains ~/project/node_modules/svc',
  );
  fs.mkdirSync(join(project.root, '.git'));
  const second = await project.update(['--yes']);
  assert.is(second.code, exitCodes.conflict);
  assert.match(second.stdout, 'git -C ~/project/node_modules/svc pull');
  assert.equal(project.installs(), []);
  project.place.dispose();
});

test('versions are compared by their numbers', () => {
  for (const [version, other] of [
    ['1.10.0', '1.9.9'],
    ['2.0.0', '1.99.99'],
    ['1.0.0', '1.0.0-rc.2'],
    ['1.0.0-rc.10', '1.0.0-rc.9'],
  ] as const) {
    assert.ok(isNewer(version, other), `${version} ${other}`);
    assert.not.ok(isNewer(other, version), `${other} ${version}`);
    assert.not.ok(isNewer(version, version));
  }
});

test.run();
