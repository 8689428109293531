import { EventEmitter } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { runCli } from '../run.ts';
import { makeContext, run } from '../../fixtures/cli/run.ts';
import { json, withFiles, write } from '../../fixtures/cli/vault-files.ts';

test('index reports what was read and what was skipped and why, and reads nothing twice', async () => {
  await withFiles(async (_place, svc) => {
    const first = await svc('index', 'files', '-w', '1');
    assert.is(first.code, 0, first.stderr);
    assert.match(first.stdout, /Indexed ~\/files → ~\/home\/\.index/);
    assert.match(first.stdout, /files +5 read, 0 unchanged, 0 gone/);
    for (const part of [/1 ignored/, /1 secret by name/, /1 binary/])
      assert.match(first.stdout, part);
    const again = json((await svc('index', 'files', '-w', '1', '--json')).stdout);
    assert.equal([again['indexed'], again['unchanged'], again['complete']], [0, 5, true]);
    assert.equal(again['left_out'], { ignored: 1, secret: 1, binary: 1 });
  });
});

test('status shows what is indexed, or how to create an index', async () => {
  await withFiles(async (_place, svc) => {
    for (const argv of [
      ['index', '--status'],
      ['search', 'x'],
      ['vault-health'],
      ['rebuild-vault-index'],
    ]) {
      const none = await svc(...argv);
      assert.is(none.code, exitCodes.not_found, argv.join(' '));
      assert.match(none.stderr, /There is no index yet[^]*`svc index <folder>` makes one/);
    }
    await svc('index', 'files', '-w', '1');
    const printed = await svc('index', '--status');
    assert.match(printed.stdout, /folders +~\/files\n +files +5\n/);
    const status = json((await svc('index', '--status', '--json')).stdout);
    assert.equal([status['available'], status['files'], status['indexing']], [true, 5, false]);
  });
});

test('search shows path, lines, score and the marked hit; unsafe blocks only on request', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const { code, stdout } = await svc('search', 'flumbrick', 'gate');
    assert.is(code, 0);
    assert.match(stdout, /^~\/files\/gate\.md:1-3 {2}\d+\.\d\d\n/);
    assert.match(stdout, /The «flumbrick» «gate» opens/);
    assert.not.match(stdout, /token/);
    const all = await svc('search', '--all', 'flumbrick token');
    assert.match(all.stdout, /token\.md:1-1 .*secret, never sent/);
    const found = json((await svc('search', 'snarfle', '--top', '1', '--json')).stdout);
    const [hit] = found['hits'] as Record<string, unknown>[];
    assert.equal([hit?.['path'], hit?.['start_line'], hit?.['end_line']], ['src/store.ts', 1, 3]);
    assert.equal(hit?.['root'], join(place.folder, 'files'));
    const bell = await svc('search', 'zandrel');
    assert.ok(bell.stdout.includes('zandrel'));
    for (const sign of ['\u0007', '\u001b']) assert.not.ok(bell.stdout.includes(sign));
    const nothing = await svc('search', 'xyzzyqq');
    assert.equal([nothing.code, nothing.stdout], [exitCodes.not_found, '']);
    assert.match(nothing.stderr, /Nothing found/);
    const bad = await svc('search', 'x', '--top', '0');
    assert.equal([bad.code, bad.stdout], [exitCodes.usage, '']);
  });
});

test('both backends give the same results without indexing again', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const answers: string[] = [];
    for (const backend of ['json_blocks', 'sqlite', 'json_blocks', 'sqlite']) {
      const env = { ...place.env, SVC_RETRIEVAL_BACKEND: backend };
      write(place.folder, { [`more-${answers.length}.md`]: 'Unrelated.\n' });
      if (answers.length === 2) await run(place, ['index', 'files', '-w', '1'], { env });
      answers.push(
        (await run(place, ['search', '--json', 'flumbrick gate lever'], { env })).stdout,
      );
    }
    assert.is(answers[0], answers[1]);
    assert.is(answers[2], answers[3]);
    assert.match(answers[3]!, /gate\.md/);
  });
});

test('calibrate stores its result, and index uses no more workers than allowed', async () => {
  await withFiles(async (_place, svc) => {
    const found = json((await svc('calibrate', 'files', '--max-workers', '1', '--json')).stdout);
    assert.is(found['workers'], 1);
    assert.is((found['trials'] as unknown[]).length, 1);
    const { stderr, code } = await svc('index', 'files', '--recalibrate', '--max-workers', '1');
    assert.is(code, 0);
    assert.match(stderr, /1 worker index/);
    for (const argv of [
      ['--workers', '9'],
      ['--max-workers', '0'],
    ]) {
      assert.is((await svc('index', 'files', ...argv)).code, exitCodes.usage, argv.join(' '));
    }
    for (const command of ['index', 'calibrate']) {
      const missing = await svc(command, 'nowhere');
      assert.is(missing.code, exitCodes.not_found, command);
      assert.match(missing.stderr, /nowhere cannot be read/);
    }
  });
});

test('a disk error is reported with its path, and not as a bug in svc', async () => {
  await withFiles(async (place, svc) => {
    const file = join(place.folder, 'files', 'gate.md');
    const one = await svc('index', 'files/gate.md');
    assert.is(one.code, exitCodes.not_found);
    assert.match(one.stderr, /gate\.md is a file, not a folder[^]*`svc index .*files`/);
    assert.not.match(one.stderr, /--forget/);
    const lock = join(place.folder, 'other', 'append.lock');
    mkdirSync(lock, { recursive: true });
    const cases = [
      [file, file, 'a part of its path is not a folder'],
      [join(file, 'in'), file, 'a part of its path is not a folder'],
      ['/proc/nope', '/proc/nope', 'no folder can be made'],
      [join(place.folder, 'other'), lock, 'it cannot be opened'],
    ] as const;
    for (const [index, path, reason] of cases) {
      const env = { ...place.env, SVC_VAULT_INDEX: index };
      const { code, stderr } = await run(place, ['index', 'files', '-w', '1'], { env });
      assert.is(code, exitCodes.config, stderr);
      assert.ok(stderr.includes(path) && stderr.includes(reason), stderr);
      assert.not.match(stderr, /bug in svc/);
    }
  });
});

test('an interrupted index keeps what was read, says so, and is continued by the next run', async () => {
  await withFiles(async (place, svc) => {
    for (let n = 0; n < 600; n++) {
      write(place.folder, { [`many/f${n}.md`]: `File ${n}.\n${'words and words\n'.repeat(200)}` });
    }
    const events = new EventEmitter();
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 90 });
    let printed = '';
    stderr.on('data', (piece: Buffer) => {
      printed += piece.toString();
      // As soon as the progress bar moves.
      if (/\] [1-9]\d* of/.test(printed)) events.emit('SIGINT');
    });
    const { context } = makeContext(place, { events, stderr });
    const code = await runCli(['index', 'files', '-w', '1'], context);
    assert.is(code, exitCodes.cancelled, printed);
    assert.match(printed, /\[#*-+\] \d+ of 605 files, \d+ files\/s, .* left/);
    assert.match(printed, /Stopped\. \d+ of 605 files are in the index and kept\./);
    assert.match(printed, /`svc index ~\/files` continues from there/);
    assert.equal(events.eventNames(), []);
    const next = json((await svc('index', 'files', '-w', '1', '--json')).stdout);
    assert.ok(Number(next['unchanged']) > 0 && Number(next['indexed']) > 0);
    assert.is(Number(next['unchanged']) + Number(next['indexed']), 605);
  });
});

test('watch indexes a change and ends on an interrupt', async () => {
  await withFiles(async (place, svc) => {
    const events = new EventEmitter();
    const { context, pieces } = makeContext(place, { events });
    const ended = runCli(['index', 'files', '--watch', '--json', '-w', '1'], context);
    const until = async (done: () => boolean) => {
      const untilMs = Date.now() + 120_000;
      while (!done() && Date.now() < untilMs) await new Promise((go) => setTimeout(go, 10));
    };
    await until(() => pieces.stderr.includes('Watching ~/files'));
    appendFileSync(join(place.folder, 'files', 'gate.md'), '\nAnd the mirrow shines.\n');
    await until(() => pieces.stdout.split('\n').length > 2);
    events.emit('SIGINT');
    assert.is(await ended, 0, pieces.stderr);
    const runs = pieces.stdout.trim().split('\n').map(json);
    assert.equal(
      runs.map((one) => one['indexed']),
      [5, 1],
    );
    assert.match((await svc('search', 'mirrow')).stdout, /gate\.md/);
  });
});

test.run();
