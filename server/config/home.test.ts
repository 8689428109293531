/**
 * Folders and files in the home folder are private to their owner, whatever permissions they had
 * before.
 */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/error.ts';
import {
  absolutePath,
  createPrivateFile,
  ensureHome,
  ensurePrivateFolder,
  resolveHome,
  writePrivateFile,
} from './home.ts';
import { readConfigFile } from './read-file.ts';

const test = suite<{ folder: string; umask: number }>('home');

test.before.each((context) => {
  context.umask = process.umask(0);
  context.folder = fs.mkdtempSync(join(tmpdir(), 'svc-home-'));
});

test.after.each((context) => {
  process.umask(context.umask);
  fs.rmSync(context.folder, { recursive: true, force: true });
});

const modeOf = (path: string): string => (fs.lstatSync(path).mode & 0o777).toString(8);

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

test('the home folder is $SVC_HOME, or ~/.svc by default', () => {
  assert.is(resolveHome({}, '/home/ada', '/w'), '/home/ada/.svc');
  assert.is(resolveHome({ SVC_HOME: '' }, '/home/ada', '/w'), '/home/ada/.svc');
  assert.is(resolveHome({ SVC_HOME: '~' }, '/home/ada', '/w'), '/home/ada');
  assert.is(resolveHome({ SVC_HOME: 'here' }, '/home/ada', '/w'), '/w/here');
  assert.is(absolutePath('~ada/x', '/w', '/home/ada'), '/w/~ada/x');
});

test('a home folder that cannot be used is an error with cause and cure', ({ folder }) => {
  const file = join(folder, 'file');
  fs.writeFileSync(file, '');
  for (const [home, why] of [
    [file, 'it is not a folder'],
    [join(file, 'home'), 'a part of its path is not a folder'],
  ] as const) {
    const thrown = thrownBy(() => ensureHome(home));
    assert.ok(isSvcError(thrown));
    assert.is(thrown.message, `Cannot use the home folder ${home}: ${why}`);
    assert.match(thrown.cure ?? '', 'Set SVC_HOME to a folder of your own that can be written.');
  }
  ensureHome(join(folder, 'fine'));
});

test('folders get mode 0700 whatever the umask, and existing ones are tightened', ({ folder }) => {
  const fresh = join(folder, 'a', 'b');
  ensurePrivateFolder(fresh);
  assert.is(modeOf(fresh), '700');
  assert.is(modeOf(join(folder, 'a')), '700');
  const loose = join(folder, 'loose');
  fs.mkdirSync(loose, 0o777);
  ensurePrivateFolder(loose);
  assert.is(modeOf(loose), '700');
});

test('reports a file in the place of a folder', ({ folder }) => {
  const path = join(folder, 'file');
  fs.writeFileSync(path, '');
  const error = thrownBy(() => ensurePrivateFolder(path));
  assert.ok(isSvcError(error) && error.kind === 'config');
});

test('files get mode 0600 whatever the umask, and replace files with a wider mode', ({
  folder,
}) => {
  const path = join(folder, 'config.yaml');
  fs.writeFileSync(path, 'old', { mode: 0o666 });
  writePrivateFile(path, 'new');
  assert.is(modeOf(path), '600');
  assert.is(fs.readFileSync(path, 'utf8'), 'new');
  assert.equal(fs.readdirSync(folder), ['config.yaml']);
});

test('a planted link is replaced, and its target stays untouched', ({ folder }) => {
  const victim = join(folder, 'victim');
  const path = join(folder, 'pid');
  fs.writeFileSync(victim, 'precious');
  fs.symlinkSync(victim, path);
  writePrivateFile(path, '42');
  assert.is(fs.readFileSync(victim, 'utf8'), 'precious');
  assert.ok(fs.lstatSync(path).isFile());
});

test('creating a file never overwrites one and never follows a dangling link', ({ folder }) => {
  const path = join(folder, 'once');
  createPrivateFile(path, '1');
  assert.is(modeOf(path), '600');
  const twice = thrownBy(() => createPrivateFile(path, '2'));
  assert.ok(isSvcError(twice) && twice.kind === 'conflict');
  fs.symlinkSync(join(folder, 'target'), join(folder, 'link'));
  const followed = thrownBy(() => createPrivateFile(join(folder, 'link'), 'x'));
  assert.ok(isSvcError(followed));
  assert.not.ok(fs.existsSync(join(folder, 'target')));
});

test('a failed write leaves no file behind', ({ folder }) => {
  const path = join(folder, 'taken');
  fs.mkdirSync(path);
  const error = thrownBy(() => writePrivateFile(path, 'x'));
  assert.ok(isSvcError(error) && error.kind === 'config');
  assert.equal(fs.readdirSync(folder), ['taken']);
});

test('an absent file reads as undefined; folders, binary files and large files are reported', ({
  folder,
}) => {
  assert.is(readConfigFile(join(folder, 'absent'), 10), undefined);
  const path = join(folder, 'f');
  fs.writeFileSync(path, 'a: 1', { mode: 0o640 });
  assert.equal(readConfigFile(path, 10), { text: 'a: 1', mode: 0o640 });
  const cases: readonly (readonly [string, RegExp])[] = [
    [folder, /is not a file|is a folder/],
    [path, /larger than/],
  ];
  for (const [named, message] of cases) {
    const error = thrownBy(() => readConfigFile(named, 3));
    assert.ok(isSvcError(error) && error.code === 'CONFIG_001');
    assert.match(error.message, message);
  }
  fs.writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
  const error = thrownBy(() => readConfigFile(path, 10));
  assert.ok(isSvcError(error));
  assert.match(error.message, /not UTF-8/);
});

test.run();
