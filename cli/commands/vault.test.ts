import { EventEmitter } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { makeContext, makePlace, run } from '../testing.ts';
import type { Place } from '../testing.ts';
import { runCli } from '../run.ts';

const FILES: Readonly<Record<string, string>> = {
  'gate.md': '# The gate\n\nThe flumbrick gate opens when the quorble lever is pulled.\n',
  'src/store.ts': 'export function keepSnarfle(days: number) {\n  return days > 90;\n}\n',
  'src/bell.ts': 'export const bell = "\u001b]0;stolen\u0007 zandrel";\n',
  'token.md': 'The flumbrick token = "Zx81KqPw02LmN7vR4tYb"\n',
  '.env': 'FLUMBRICK=1\n',
  'skip.log': 'ignored flumbrick\n',
  '.gitignore': '*.log\n',
  'a.bin': 'x\0y',
};

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'files', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  }
}

async function withFiles(
  use: (place: Place, svc: (...argv: string[]) => ReturnType<typeof run>) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  write(place.folder, FILES);
  try {
    await use(place, (...argv) => run(place, argv));
  } finally {
    place.dispose();
  }
}

const logOf = (place: Place) => join(place.home, '.index', 'blocks.jsonl');
const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

test('index tells what was read and what was left out and why, and reads nothing twice', async () => {
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

test('status shows what is indexed, and how to begin where nothing is', async () => {
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
    const shown = await svc('index', '--status');
    assert.match(shown.stdout, /folders +~\/files\n +files +5\n/);
    const status = json((await svc('index', '--status', '--json')).stdout);
    assert.equal([status['available'], status['files'], status['indexing']], [true, 5, false]);
  });
});

test('search shows path, lines, score and the hit marked; unsafe blocks only when asked for', async () => {
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

test('both backends answer alike, without indexing again', async () => {
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

test('a damaged index is told by vault-health, and repaired', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    assert.is((await svc('vault-health')).code, 0);
    const bytes = readFileSync(logOf(place));
    bytes.fill('#', 200, 260);
    writeFileSync(logOf(place), bytes);
    const broken = await svc('vault-health');
    assert.is(broken.code, exitCodes.internal);
    assert.match(broken.stdout, /The index is broken[^]*damaged at byte/);
    assert.match(broken.stderr, /vault-health repair/);
    assert.is(json((await svc('vault-health', '--json')).stdout)['status'], 'broken');
    const repaired = json((await svc('vault-health', 'repair', '--json')).stdout);
    assert.equal([repaired['status'], repaired['unreadable']], ['ok', []]);
    assert.match(String(repaired['moved_to']), /corrupt-/);
    assert.match((await svc('search', 'flumbrick')).stdout, /gate\.md/);
    assert.is((await svc('vault-health')).code, 0);
    assert.is((await svc('rebuild-vault-index')).code, 0);
  });
});

test('a repair leaves a file of somebody else’s alone, and is not advised for its sake', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const stranger = join(place.home, '.index', 'blocks.db');
    writeFileSync(stranger, 'notes of mine\n'.repeat(500));
    const health = await svc('vault-health');
    assert.is(health.code, exitCodes.internal);
    assert.match(health.stdout, /blocks\.db is no vault index/);
    assert.match(health.stderr, /SVC_VAULT_INDEX/);
    assert.not.match(health.stderr, /repair/);
    const repaired = await svc('vault-health', 'repair');
    assert.is(repaired.code, exitCodes.config);
    assert.match(repaired.stderr, /blocks\.db is no vault index/);
    assert.is(readFileSync(stranger, 'utf8').length, 7000);
    assert.match((await svc('search', 'flumbrick')).stdout, /gate\.md/);
  });
});

test('damage that a search meets is repaired before it answers, or later if that is interrupted', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const damage = (): void => {
      const bytes = readFileSync(logOf(place));
      const at = bytes.indexOf('flumbrick gate opens');
      bytes.fill('#', at - 100, at + 100);
      writeFileSync(logOf(place), bytes);
    };
    damage();
    const found = await svc('search', 'quorble');
    assert.match(found.stderr, /was damaged[^]*the old one is [^]*read again/);
    assert.match(found.stdout, /gate\.md/);
    const whole = json((await svc('vault-health', '--json')).stdout);
    assert.equal([whole['status'], whole['files']], ['ok', 5]);
    damage();
    const events = new EventEmitter();
    const stderr = new PassThrough();
    let said = '';
    stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('read again')) events.emit('SIGINT');
    });
    const { context } = makeContext(place, { events, stderr });
    assert.is(await runCli(['search', 'quorble'], context), exitCodes.cancelled, said);
    assert.match(said, /`svc vault-health repair`/);
    const health = await svc('vault-health');
    assert.is(health.code, exitCodes.internal);
    assert.match(health.stdout, /broken[^]*files has not been read again yet/);
    assert.match((await svc('search', 'quorble')).stdout, /gate\.md/);
    assert.is((await svc('vault-health')).code, 0);
  });
});

test('a folder is taken out of the index, also when it is gone', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    assert.is((await svc('index', '--forget')).code, exitCodes.usage);
    const part = await svc('index', 'files/src', '--forget');
    assert.is(part.code, exitCodes.not_found);
    assert.match(part.stderr, /part of [^]*\.gitignore/);
    rmSync(join(place.folder, 'files'), { recursive: true });
    const gone = await svc('index', 'files');
    assert.is(gone.code, exitCodes.not_found);
    assert.match(gone.stderr, /svc index --forget/);
    assert.match((await svc('search', 'flumbrick')).stdout, /gate\.md/);
    const forgotten = json((await svc('index', 'files', '--forget', '--json')).stdout);
    assert.equal(forgotten, { roots: [join(place.folder, 'files')], files: 5 });
    assert.is((await svc('search', 'flumbrick')).code, exitCodes.not_found);
    assert.not.match(readFileSync(logOf(place), 'utf8'), /flumbrick/);
    const status = json((await svc('index', '--status', '--json')).stdout);
    assert.equal([status['files'], status['roots']], [0, []]);
    assert.is((await svc('index', 'files', '--forget')).code, exitCodes.not_found);
  });
});

test('calibrate keeps what it found, and index uses no more workers than allowed', async () => {
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
    assert.is((await svc('index', 'nowhere')).code, exitCodes.not_found);
  });
});

test('an interrupt keeps what was read, says so, and the next run goes on', async () => {
  await withFiles(async (place, svc) => {
    for (let n = 0; n < 600; n++) {
      write(place.folder, { [`many/f${n}.md`]: `File ${n}.\n${'words and words\n'.repeat(200)}` });
    }
    const events = new EventEmitter();
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 90 });
    let shown = '';
    stderr.on('data', (piece: Buffer) => {
      shown += piece.toString();
      // As soon as the bar moves.
      if (/\] [1-9]\d* of/.test(shown)) events.emit('SIGINT');
    });
    const { context } = makeContext(place, { events, stderr });
    const code = await runCli(['index', 'files', '-w', '1'], context);
    assert.is(code, exitCodes.cancelled, shown);
    assert.match(shown, /\[#*-+\] \d+ of 605 files, \d+ files\/s/);
    assert.match(shown, /Stopped\. \d+ of 605 files are in the index and kept\./);
    assert.match(shown, /`svc index ~\/files` goes on from there/);
    assert.equal(events.eventNames(), []);
    const next = json((await svc('index', 'files', '-w', '1', '--json')).stdout);
    assert.ok(Number(next['unchanged']) > 0 && Number(next['indexed']) > 0);
    assert.is(Number(next['unchanged']) + Number(next['indexed']), 605);
  });
});

test('watch indexes a change within a second or so, and ends with the interrupt', async () => {
  await withFiles(async (place, svc) => {
    const events = new EventEmitter();
    const { context, pieces } = makeContext(place, { events });
    const ended = runCli(['index', 'files', '--watch', '--json', '-w', '1'], context);
    const until = async (done: () => boolean) => {
      const untilMs = Date.now() + 8000;
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
