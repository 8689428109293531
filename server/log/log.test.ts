import { Writable } from 'node:stream';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/clock.ts';
import { type Log, type LogOptions, createLog } from './log.ts';

const QUIET = {
  isEnabled: true,
  includeRequestBody: false,
  includeResponseBody: false,
  includeTraces: false,
};
const START_MS = Date.UTC(2026, 0, 1);
function toMemory(options: Partial<LogOptions> = {}): { log: Log; text: () => Promise<string> } {
  let written = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString('utf8');
      done();
    },
  });
  const log = createLog({
    ...QUIET,
    level: 'info',
    destination: { kind: 'stream', stream },
    format: 'json',
    retentionDays: 30,
    clock: createManualClock(START_MS),
    ...options,
  });
  return {
    log,
    async text() {
      await log.close();
      return written;
    },
  };
}

function lines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line is a JSON object with time, level, message and fields, in call order', async () => {
  const { log, text } = toMemory();
  log.info('started', { port: 8766, nested: { a: [1, 'b'] } });
  log.warning('odd');
  log.error('failed', { error: new Error('why') });
  const [first, second, third] = lines(await text());
  assert.equal(first, {
    level: 'info',
    time: '2026-01-01T00:00:00.000Z',
    port: 8766,
    nested: { a: [1, 'b'] },
    msg: 'started',
  });
  assert.is(second?.['level'], 'warning');
  assert.match(JSON.stringify(third?.['error']), /"message":"why"/);
});

test('lines logged before and after the logger has loaded keep their order', async () => {
  const { log, text } = toMemory();
  for (let i = 0; i < 10; i += 1) log.info(`early ${i}`);
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let i = 0; i < 10; i += 1) log.info(`late ${i}`);
  const messages = lines(await text()).map((line) => line['msg']);
  assert.is(messages.length, 20);
  assert.is(messages[9], 'early 9');
  assert.is(messages[10], 'late 0');
});

test('the level can be changed while running, and `off` logs nothing', async () => {
  const { log, text } = toMemory();
  log.debug('no');
  log.setDebug(true);
  assert.ok(log.isEnabled('debug'));
  log.debug('yes');
  log.configure({ ...QUIET, level: 'error' });
  log.warning('no');
  log.error('yes');
  log.setDebug(true);
  log.setDebug(false);
  // Back to the configured level, not to the default.
  log.warning('no');
  log.configure({ ...QUIET, level: 'debug' });
  log.setDebug(false);
  log.debug('no');
  assert.equal(
    lines(await text()).map((line) => line['msg']),
    ['yes', 'yes'],
  );

  const off = toMemory({ isEnabled: false });
  off.log.error('no');
  assert.not(off.log.isEnabled('error'));
  assert.is(await off.text(), '');
});

test('a caller cannot replace the standard fields of a line', async () => {
  const { log, text } = toMemory();
  log.info('real', { time: 'fake', level: 'fake', msg: 'fake' });
  const raw = await text();
  const [line] = lines(raw);
  assert.is(line?.['msg'], 'real');
  assert.is(line?.['level'], 'info');
  assert.is(line?.['time'], '2026-01-01T00:00:00.000Z');
  assert.is(raw.match(/"msg":/g)?.length, 1);
});

test('every entry is one line of text, whatever the message contains', async () => {
  const { log, text } = toMemory({ format: 'text' });
  log.info('first\n2026-01-01 ERROR forged\u001b[2J', { path: '/v1/messages', note: 'a\nb "c"' });
  const written = await text();
  assert.is(
    written,
    String.raw`2026-01-01T00:00:00.000Z INFO    first\n2026-01-01 ERROR forged path=/v1/messages note="a\nb \"c\""` +
      '\n',
  );
});

test('bodies are logged only if enabled, separately for each direction', async () => {
  const bytes = Buffer.from('{"messages":["the prompt"]}');
  for (const [request, response] of [
    [false, false],
    [true, false],
    [false, true],
  ]) {
    const { log, text } = toMemory({
      includeRequestBody: request!,
      includeResponseBody: response!,
    });
    log.body('request', 'r1', bytes);
    log.body('response', 'r1', bytes);
    log.info('by accident', { bytes });
    const texts = lines(await text()).map((line) => line['msg']);
    assert.is(texts.includes('request body'), request);
    assert.is(texts.includes('response body'), response);
  }
  const { log, text } = toMemory();
  log.info('by accident', { bytes, nested: [new Uint8Array(bytes)] });
  assert.not.match(await text(), /prompt/);
});

test('a failed stream stops the log, but not the caller', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('disk full')) });
  const broken = toMemory({ destination: { kind: 'stream', stream } }).log;
  const failed = once(stream, 'error');
  broken.info('one');
  await failed;
  await pause(1);
  broken.info('two');
  assert.is(broken.dropped, 1);
  await broken.close();
});

test.run();
