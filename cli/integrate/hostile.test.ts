/**
 * `svc integrate` with a list written by someone else, files that are links, and concurrent runs.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entry, inPlace, run, write } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';

const ADDRESS = 'http://127.0.0.1:8766';
const SETTINGS = '.claude/settings.json';
const BEFORE = '{ "env": { "A": "1" } }\n';

const read = (path: string): string => fs.readFileSync(path, 'utf8');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type Entry = Record<string, unknown>;

/** Applies to Claude Code; returns the list's only entry. */
async function applied(place: Place): Promise<Entry> {
  const { code, stderr } = await run(place, ['integrate', 'claude', '--apply']);
  assert.is(code, 0, stderr);
  const list = JSON.parse(read(join(place.home, 'integrations.json'))) as { integrations: Entry[] };
  return list.integrations[0]!;
}

function setList(place: Place, ...integrations: unknown[]): void {
  fs.mkdirSync(place.home, { recursive: true, mode: 0o700 });
  fs.writeFileSync(join(place.home, 'integrations.json'), JSON.stringify({ integrations }));
}

const undoAll = (place: Place) => run(place, ['integrate', '--undo']);

test('a backup outside the backup folder is neither read nor removed', () =>
  inPlace(async (place) => {
    const settings = write(place, SETTINGS, BEFORE);
    const good = await applied(place);
    const after = read(settings);
    const victim = write(place, 'victim/notes.txt', 'mine\n');
    const name = String(good['backup']);
    fs.symlinkSync(victim, join(place.home, 'backups', 'link'));
    fs.linkSync(victim, join(place.home, 'backups', 'hard'));
    const lies = [
      victim,
      '../../victim/notes.txt',
      join(place.home, 'backups', '..', '..', 'victim', 'notes.txt'),
      join(place.home, 'backups', 'link'),
      'link',
      'hard',
      dirname(victim),
      '..',
      '.',
      '',
      '/',
      7,
      {},
      [victim],
      undefined,
    ];
    for (const backup of lies) {
      for (const before of [good['before'], sha256('other'), undefined, 7]) {
        fs.writeFileSync(settings, after);
        setList(place, { ...good, backup, before });
        const { stderr } = await undoAll(place);
        assert.not.match(stderr, /internal|at .*\.js:/, JSON.stringify(backup));
        assert.is(read(victim), 'mine\n', JSON.stringify(backup));
        assert.ok([after, '{ "env": { "A": "1" } }\n'].includes(read(settings)), read(settings));
        assert.ok(fs.existsSync(join(place.home, 'backups', name)));
      }
    }
    // A hard link is a file of its own in the folder: its bytes decide.
    assert.is(fs.statSync(victim).nlink, 2);
  }));

test('after a later change the saved file is not restored, but what svc wrote is removed', () =>
  inPlace(async (place) => {
    const settings = write(place, SETTINGS, BEFORE);
    const good = await applied(place);
    const backup = join(place.home, 'backups', String(good['backup']));
    fs.writeFileSync(backup, '{ "env": { "ANTHROPIC_BASE_URL": "https://evil.example" } }\n');
    const undone = await run(place, ['integrate', '--undo', '--json']);
    assert.is(JSON.parse(undone.stdout).undone[0].outcome, 'keys');
    assert.equal(JSON.parse(read(settings)), { env: { A: '1' } });
    assert.match(read(backup), /evil/);
  }));

test('no file is removed, replaced or edited unless it holds what svc writes', () =>
  inPlace(async (place) => {
    write(place, SETTINGS, BEFORE);
    const good = await applied(place);
    const ownSettings = '{ "env": { "ANTHROPIC_BASE_URL": "https://mine.example", "B": "2" } }\n';
    const victim = write(place, 'victim/settings.json', ownSettings);
    const path = ['env', 'ANTHROPIC_BASE_URL'];
    const values = [
      [],
      good['written'],
      [{ path, raw: '"https://mine.example"', made: null }],
      [{ path, raw: '"https://mine.example"', before: '"https://evil.example"', made: 1 }],
      [{ path: ['env'], raw: ownSettings.trim(), made: null }],
      [{ path: ['env', 'B'], raw: '"2"', made: 1 }],
    ];
    for (const written of values) {
      for (const backup of [good['backup'], null]) {
        for (const left of [sha256(ownSettings), good['left']]) {
          for (const url of [ADDRESS, '', 'https://', '2']) {
            const lie = { ...good, file: victim, written, backup, left, url, madeFolder: true };
            setList(place, lie);
            const { stderr, code } = await undoAll(place);
            assert.not.match(stderr, /internal|at .*\.js:/);
            assert.is(read(victim), ownSettings, JSON.stringify(lie));
            if (left === sha256(ownSettings)) assert.is.not(code, 0);
          }
        }
      }
    }
  }));

test('invalid entries are named and left alone, and do not block the others', () =>
  inPlace(async (place) => {
    const settings = write(place, SETTINGS, BEFORE);
    const good = await applied(place);
    const after = read(settings);
    const strange = [
      null,
      7,
      'text',
      [],
      {},
      { ...good, file: null },
      { ...good, file: 7 },
      { ...good, file: '.claude/settings.json' },
      { ...good, format: 'xml' },
      { ...good, format: '__proto__' },
      { ...good, written: null },
      { ...good, written: [null] },
      { ...good, written: [{ path: '__proto__', raw: 1 }] },
      { ...good, written: [{ path: [{}], raw: 'x', made: null }] },
      { ...good, written: [{ path: ['a'], raw: 'x', made: -1 }] },
      { ...good, left: 7 },
    ];
    for (const one of strange) {
      fs.writeFileSync(settings, after);
      setList(place, one, good, one);
      fs.writeFileSync(join(place.home, 'backups', String(good['backup'])), BEFORE);
      const undone = await undoAll(place);
      assert.is(undone.code, exitCodes.config, JSON.stringify(one));
      assert.match(
        undone.stderr,
        /2 of the entries in .*integrations\.json are not what svc writes/,
      );
      assert.is(read(settings), BEFORE, JSON.stringify(one));
      const list = JSON.parse(read(join(place.home, 'integrations.json'))) as object;
      assert.equal(list, JSON.parse(JSON.stringify({ integrations: [one, one] })));
      fs.mkdirSync(join(place.home, 'backups'), { recursive: true, mode: 0o700 });
      assert.is((await run(place, ['integrate'])).code, 0);
    }
    const again = await run(place, ['integrate', 'claude', '--apply']);
    assert.is(again.code, 0, again.stderr);
    for (const text of ['', '[]', 'null', '{}', '{"integrations":{}}', '{"integrations":null}']) {
      fs.writeFileSync(join(place.home, 'integrations.json'), text);
      const refused = await undoAll(place);
      assert.is(refused.code, exitCodes.config, text);
      assert.match(refused.stderr, /Cannot read .*integrations\.json/);
    }
  }));

test('one file that cannot be undone does not block the others', () =>
  inPlace(async (place) => {
    const codex = write(place, '.codex/config.toml', 'model = "x"\n');
    write(place, SETTINGS, BEFORE);
    assert.is((await run(place, ['integrate', 'claude', '--apply'])).code, 0);
    assert.is((await run(place, ['integrate', 'codex', '--apply'])).code, 0);
    fs.writeFileSync(join(place.folder, SETTINGS), '{ "env": \n');
    const undone = await undoAll(place);
    assert.is(undone.code, exitCodes.config);
    assert.match(undone.stderr, /settings\.json: it is not JSON/);
    assert.match(undone.stdout, /config\.toml is as it was/);
    assert.is(read(codex), 'model = "x"\n');
    const kept = await run(place, ['uninstall', '--data']);
    assert.is(kept.code, exitCodes.config);
    assert.ok(fs.existsSync(join(place.home, 'backups')), 'the backup is still there');
  }));

test('an entry of an earlier version, with a path and no hash, is undone', () =>
  inPlace(async (place) => {
    const settings = write(place, SETTINGS, BEFORE, 0o644);
    const { before, ...good } = await applied(place);
    assert.is(before, sha256(BEFORE));
    const backup = join(place.home, 'backups', String(good['backup']));
    const [one] = good['written'] as Entry[];
    const written = [{ ...one, before: null }];
    setList(place, { ...good, backup, mode: 0o777, written });
    const { code, stderr } = await undoAll(place);
    assert.is(code, 0, stderr);
    assert.is(read(settings), BEFORE);
    assert.is(fs.statSync(settings).mode & 0o777, 0o644);
    assert.equal(fs.readdirSync(place.home), []);
  }));

test('a backup outlives the file that was backed up', () =>
  inPlace(async (place) => {
    const settings = write(place, SETTINGS, BEFORE);
    const good = await applied(place);
    fs.rmSync(settings);
    const undone = await undoAll(place);
    assert.is(undone.code, 0);
    assert.match(undone.stdout, String(good['backup']));
    assert.is(read(join(place.home, 'backups', String(good['backup']))), BEFORE);
  }));

test('a dangling link stays a link, and its target is created and removed', () =>
  inPlace(async (place) => {
    const target = join(place.folder, 'dotfiles/claude.json');
    fs.mkdirSync(dirname(target));
    fs.mkdirSync(join(place.folder, '.claude'));
    const link = join(place.folder, SETTINGS);
    const middle = join(place.folder, '.claude/middle.json');
    fs.symlinkSync('middle.json', link);
    fs.symlinkSync('../dotfiles/claude.json', middle);
    const done = await run(place, ['integrate', 'claude', '--apply']);
    assert.is(done.code, 0, done.stderr);
    for (const one of [link, middle]) assert.ok(fs.lstatSync(one).isSymbolicLink(), one);
    assert.match(read(target), ADDRESS);
    assert.is((await undoAll(place)).code, 0);
    for (const one of [link, middle]) assert.ok(fs.lstatSync(one).isSymbolicLink(), one);
    assert.not.ok(fs.existsSync(target));

    fs.rmdirSync(dirname(target));
    const refused = await run(place, ['integrate', 'claude', '--apply']);
    assert.is(refused.code, exitCodes.config);
    assert.match(refused.stderr, /link to .*dotfiles/);
    fs.rmSync(link);
    fs.symlinkSync('settings.json', link);
    const linkCycle = await run(place, ['integrate', 'claude', '--apply']);
    assert.is(linkCycle.code, exitCodes.config);
    assert.ok(fs.lstatSync(link).isSymbolicLink());
  }));

test('a flow map with a comment is undone after a change', () =>
  inPlace(async (place) => {
    const texts = [
      '{ model: x } # mine\n',
      '{ # mine\n  model: x\n}\n',
      '{} # mine\n',
      '{ # mine\n}\n',
      '{ model: x, # mine\n  dark: true, }\n',
    ];
    for (const text of texts) {
      const path = write(place, '.aider.conf.yml', text);
      const done = await run(place, ['integrate', 'aider', '--apply']);
      assert.is(done.code, 0, done.stderr);
      fs.writeFileSync(path, `${read(path)}# since\n`);
      const undone = await undoAll(place);
      assert.is(undone.code, 0, `${text}: ${undone.stderr}`);
      const squeezed = (one: string) => one.replaceAll(/[\s,]/g, '');
      assert.is(squeezed(read(path)), squeezed(`${text}# since`));
    }
  }));

/** Runs `svc` with `argv` as a process of its own; resolves with its exit code and output. */
async function svc(place: Place, argv: readonly string[]): Promise<readonly [number, string]> {
  const child = spawn(process.execPath, [entry, ...argv], {
    cwd: place.folder,
    env: { ...place.env, HOME: place.folder },
  });
  let text = '';
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (text += piece.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return [code, text];
}

test('seven concurrent runs are all recorded with what they replaced; a stale lock is taken over', () =>
  inPlace(async (place) => {
    const files = Array.from({ length: 7 }, (_, at) =>
      write(place, `project-${at}/.env`, `OPENAI_API_KEY=key-${at}\n`),
    );
    fs.mkdirSync(place.home, { mode: 0o700 });
    const dead = spawn(process.execPath, ['-e', '']);
    await once(dead, 'close');
    fs.writeFileSync(join(place.home, 'integrations.lock'), `${dead.pid} 00\n`);
    const all = files.map((file) =>
      svc(place, ['integrate', 'openai-sdk', '--apply', '--file', file]),
    );
    for (const [code, text] of await Promise.all(all)) assert.is(code, 0, text);
    const list = JSON.parse(read(join(place.home, 'integrations.json'))) as {
      integrations: Entry[];
    };
    assert.equal(list.integrations.map((one) => String(one['file'])).toSorted(), files);
    assert.is(new Set(list.integrations.map((one) => one['backup'])).size, 7);
    assert.equal(
      fs.readdirSync(place.home).filter((name) => name.includes('lock')),
      [],
    );
    const undone = await Promise.all([1, 2, 3].map(() => svc(place, ['integrate', '--undo'])));
    for (const [code, text] of undone) assert.is(code, 0, text);
    for (const [at, file] of files.entries()) assert.is(read(file), `OPENAI_API_KEY=key-${at}\n`);
    assert.equal(fs.readdirSync(place.home), []);
  }));

test.run();
