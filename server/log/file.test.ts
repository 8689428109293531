import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, systemClock } from '../../engine/clock.ts';
import { type LogOptions, createLog } from './log.ts';

const START_MS = Date.UTC(2026, 0, 1);
const test = suite<{ folder: string }>('log file');

test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
});
test.after.each((context) => {
  rmSync(context.folder, { recursive: true, force: true });
});

function fileOptions(path: string): LogOptions {
  return {
    isEnabled: true,
    level: 'info',
    destination: { kind: 'file', path },
    format: 'json',
    retentionDays: 30,
    includeRequestBody: false,
    includeResponseBody: false,
    includeTraces: false,
    clock: createManualClock(START_MS),
  };
}

function lines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the log file and its folder are private', async ({ folder }) => {
  const path = join(folder, 'logs', 'svc.log');
  const mask = process.umask(0);
  try {
    const log = createLog({ ...fileOptions(path), clock: systemClock });
    assert.not(existsSync(path), 'no file is opened before the first line');
    log.info('hello');
    await log.close();
  } finally {
    process.umask(mask);
  }
  assert.match(readFileSync(path, 'utf8'), /"msg":"hello"/);
  assert.is(statSync(path).mode & 0o777, 0o600);
  assert.is(statSync(join(folder, 'logs')).mode & 0o777, 0o700);
});

test('deletes rotated files older than the limit, and no others', async ({ folder }) => {
  const path = join(folder, 'svc.log');
  const dayS = 86_400;
  const kept = [
    'svc-20251220-00.log',
    'other-20200101-00.log',
    'svc-notes.log',
    'svc-20200101-00.txt',
  ];
  for (const [old, ageDays] of [
    ...kept.map((name, index) => [name, index === 0 ? 12 : 500] as const),
    ['svc-20251101-00.log', 61] as const,
    ['svc-20251101-12.log', 61] as const,
  ]) {
    writeFileSync(join(folder, old), 'x');
    utimesSync(join(folder, old), START_MS / 1000, START_MS / 1000 - ageDays * dayS);
  }
  const log = createLog(fileOptions(path));
  log.info('hello');
  await log.close();
  assert.equal(readdirSync(folder).toSorted(), [...kept, 'svc.log'].toSorted());
});

test('rotates by size, and keeps rotated files private and complete', async ({ folder }) => {
  const path = join(folder, 'svc.log');
  const log = createLog({ ...fileOptions(path), clock: systemClock, rotateAtBytes: 2000 });
  for (let i = 0; i < 50; i += 1) {
    log.info(`line ${i}`, { padding: 'x'.repeat(100) });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await log.close();
  const files = readdirSync(folder).toSorted();
  assert.ok(files.length >= 3, files.join(' '));
  for (const file of files) {
    assert.match(file, /^svc(-\d{8}-\d{2,})?\.log$/);
    assert.is(statSync(join(folder, file)).mode & 0o777, 0o600);
  }
  const all = files.flatMap((file) => lines(readFileSync(join(folder, file), 'utf8')));
  const texts = all.map((line) => String(line['msg'])).toSorted();
  assert.equal(texts, Array.from({ length: 50 }, (_, i) => `line ${i}`).toSorted());
});

test('sets aside the file of an earlier day under its date', async ({ folder }) => {
  const path = join(folder, 'svc.log');
  writeFileSync(path, '{"msg":"old"}\n');
  const dayBeforeS = Date.now() / 1000 - 86_400;
  utimesSync(path, dayBeforeS, dayBeforeS);
  const log = createLog({ ...fileOptions(path), clock: systemClock });
  log.info('new');
  await log.close();
  const [rotated, live] = readdirSync(folder).toSorted();
  const day = new Date(dayBeforeS * 1000).toISOString().slice(0, 10).replaceAll('-', '');
  assert.match(rotated ?? '', new RegExp(`^svc-${day}-\\d+\\.log$`));
  assert.is(live, 'svc.log');
  assert.not.match(readFileSync(path, 'utf8'), /old/);
});

test('no secret reaches the file in any form, on any path', async ({ folder }) => {
  const canary = 'canary/Key+0123456789==';
  const late = 'z9';
  const path = join(folder, 'svc.log');
  const log = createLog({
    ...fileOptions(path),
    level: 'debug',
    includeRequestBody: true,
    secrets: [canary],
  });
  const forms = [
    canary,
    encodeURIComponent(canary),
    Buffer.from(canary).toString('hex'),
    Buffer.from(canary).toString('base64'),
    Buffer.from(`u:${canary}`).toString('base64'),
  ];
  log.info(`the late key is ${late}`);
  log.addSecret(late);
  for (const form of forms) {
    log.debug(form);
    log.info(`before ${form} after`, { [form]: form, list: ['x', form], raw: ['Cookie', 'crumb'] });
    log.warning('odd', {
      error: new Error(form, { cause: form }),
      url: new URL(`http://h/?${form}`),
    });
    log.error('headers', { headers: { authorization: 'Bearer crumb', 'x-svc-key': 'crumb' } });
    log.body('request', 'r1', Buffer.from(JSON.stringify({ api_key: form })));
  }
  await log.close();
  const written = readFileSync(path, 'utf8');
  assert.is(lines(written).length, 1 + forms.length * 5);
  for (const form of forms) assert.not(written.includes(form), form);
  assert.not(written.includes(Buffer.from(`u:${canary}`).toString('base64').slice(4, 20)));
  assert.not.match(written, /canary|crumb|is z9/);
});

test('a second run appends to the file', async ({ folder }) => {
  const path = join(folder, 'svc.log');
  for (const message of ['one', 'two']) {
    const log = createLog(fileOptions(path));
    log.info(message);
    await log.close();
  }
  assert.equal(
    lines(readFileSync(path, 'utf8')).map((line) => line['msg']),
    ['one', 'two'],
  );
});

test('a log that cannot be written counts lost lines and throws nothing', async ({ folder }) => {
  const blocked = join(folder, 'file');
  writeFileSync(blocked, '');
  const log = createLog(fileOptions(join(blocked, 'svc.log')));
  log.info('one');
  await log.close();
  log.info('two');
  assert.is(log.dropped, 2);
});

test('a folder in the place of the log file counts lost lines and ends no process', async ({
  folder,
}) => {
  const path = join(folder, 'logs', 'svc.log');
  mkdirSync(path, { recursive: true });
  // Files of earlier runs, so that scanning them takes longer than the failure to open.
  for (let i = 10; i < 60; i += 1)
    writeFileSync(join(folder, 'logs', `svc-202512${10 + (i % 20)}-${i}.log`), '');
  const log = createLog(fileOptions(path));
  log.error('one');
  await new Promise((resolve) => setTimeout(resolve, 200));
  log.error('two');
  await log.close();
  assert.ok(log.dropped >= 1);
});

test.run();
