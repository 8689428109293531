/**
 * The service files as their own tools read them, and removal that leaves the machine as it was.
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runningInstance } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { rememberRewritten } from '../../fixtures/cli/remembered-conversations.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';

test('the systemd unit starts this program with this home, whatever characters the path has', async () => {
  const place = makePlace();
  const home = join(place.folder, 'a "b" 100% $HOME');
  const env = { ...place.env, SVC_HOME: home };
  const { code, stdout } = await run(place, ['service', 'print', 'systemd'], {
    env,
    entry: '/opt/s v c/main.js',
  });
  assert.is(code, 0);
  assert.match(stdout, `ExecStart="${process.execPath}" "/opt/s v c/main.js" "serve"\n`);
  assert.match(stdout, String.raw`Environment="SVC_HOME=${place.folder}/a \"b\" 100%% $HOME"`);
  assert.not.ok(fs.existsSync(home), 'printing creates nothing');
  const file = join(place.folder, 'svc.service');
  fs.writeFileSync(file, stdout.replaceAll('/opt/s v c/main.js', '/dev/null'));
  const checked = spawnSync('systemd-analyze', ['--user', 'verify', file], { encoding: 'utf8' });
  if (checked.error === undefined) assert.not.match(checked.stderr, /svc\.service:\d+/);
  place.dispose();
});

test('no path can add a line to the unit', async () => {
  const place = makePlace();
  for (const control of ['\n', '\r', '\r\n', '\v', '\u001b', '\u007f', '\\\n']) {
    const env = { ...place.env, SVC_HOME: `/tmp/x${control}ExecStartPre=/bin/evil` };
    const plain = { ...place.env, SVC_HOME: '/tmp/x' };
    const entry = `/opt/y${control}ExecStart=/bin/evil`;
    const { stdout } = await run(place, ['service', 'print', 'systemd'], { env, entry });
    const usual = (await run(place, ['service', 'print', 'systemd'], { env: plain })).stdout;
    assert.is(stdout.split(/[\n\r\v]/).length, usual.split('\n').length);
    assert.not.match(stdout, /^Exec\w+=\/bin\/evil/m);
    const list = await run(place, ['service', 'print', 'launchd'], { env });
    if (/^[\r\n\\]+$/.test(control)) assert.match(list.stdout, /&#1[03];ExecStartPre/);
    else assert.is(list.code, exitCodes.usage);
  }
  place.dispose();
});

test('the launchd property list is XML; an unknown kind is refused', async () => {
  const place = makePlace();
  const env = { ...place.env, SVC_HOME: '/a&b' };
  const { stdout } = await run(place, ['service', 'print', 'launchd'], { env });
  assert.match(stdout, '<string>/a&amp;b</string>');
  const parse =
    'import plistlib,sys; d = plistlib.loads(sys.stdin.buffer.read()); print(d["EnvironmentVariables"]["SVC_HOME"], d["ProgramArguments"][-1])';
  const read = spawnSync('python3', ['-c', parse], { input: stdout, encoding: 'utf8' });
  if (read.error === undefined) assert.is(read.stdout, '/a&b serve\n', read.stderr);
  assert.is((await run(place, ['service', 'print', 'initd'])).code, exitCodes.usage);
  place.dispose();
});

test('uninstall stops the proxy and restores clients; data is removed only with --data', async () => {
  const place = makePlace();
  const settings = join(place.folder, '.claude/settings.json');
  fs.mkdirSync(join(place.folder, '.claude'));
  fs.writeFileSync(settings, '{"a": 1}');
  const started = await run(place, ['start', '--background', '--port', '0']);
  assert.is(started.code, 0, started.stderr);
  await run(place, ['integrate', 'claude', '--apply']);
  assert.match(fs.readFileSync(settings, 'utf8'), 'ANTHROPIC_BASE_URL');

  await rememberRewritten(place.home, 'new');
  const kept = await run(place, ['uninstall']);
  assert.match(
    kept.stderr,
    /Conversations of the last day .*: 1\. They .*cannot continue without svc/,
  );
  assert.is(kept.code, 0, kept.stderr);
  assert.is(fs.readFileSync(settings, 'utf8'), '{"a": 1}');
  assert.is(runningInstance(place.home), undefined);
  assert.ok(fs.existsSync(join(place.home, 'monitor.db')));

  assert.is((await run(place, ['index', place.folder])).code, 0);
  assert.is((await run(place, ['macro', 'create', 'mine'])).code, 0);
  assert.is((await run(place, ['ca', 'create'])).code, 0);
  // Another program's file in the same folder must not be deleted.
  fs.writeFileSync(join(place.home, 'thesis.txt'), 'x');
  const gone = await run(place, ['uninstall', '--data', '--json']);
  assert.equal(JSON.parse(gone.stdout).left, ['thesis.txt']);
  assert.match(
    gone.stderr,
    /Conversations of the last day .*: 1\. They .*what was sent in them is deleted/,
  );
  assert.equal(fs.readdirSync(place.home), ['thesis.txt']);
  fs.rmSync(join(place.home, 'thesis.txt'));
  await run(place, ['uninstall', '--data']);
  assert.not.ok(fs.existsSync(place.home));
  place.dispose();
});

test.run();
