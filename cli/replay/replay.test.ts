/** `svc replay` from outside: captures of a real proxy, and recordings of other tools. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixturePath } from '../../fixtures/paths.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import type { TestProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import type { Place, Ran } from '../../fixtures/cli/run.ts';

/** Starts a capturing proxy, and provides `svc` with the same home. */
async function withCaptures(
  use: (t: TestProxy, svc: (...argv: string[]) => Promise<Ran>, place: Place) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  try {
    await withProxy({ yaml: 'capture: { enabled: true }\n' }, async (t) => {
      const home = dirname(t.db);
      const svc = (...argv: string[]) =>
        run(place, ['replay', ...argv], { env: { ...place.env, SVC_HOME: home } });
      await use(t, svc, place);
    });
  } finally {
    place.dispose();
  }
}

async function ask(t: TestProxy, count: number, more: object = {}): Promise<void> {
  const { port, services } = t.proxy;
  const before = services.window.totals().requests;
  for (let n = 0; n < count; n += 1)
    await exchange(port, {
      headers: { 'x-api-key': 'own-key-0123456789' },
      body: json(MESSAGE, more),
    });
  await t.rows(before + count);
  await services.captures.flush();
}

test('captures are listed, shown, saved, replayed and deleted', () =>
  withCaptures(async (t, svc, place) => {
    const none = await svc('list');
    assert.is(none.code, 0);
    assert.match(none.stderr, /No capture is kept/);
    assert.is((await svc('run')).code, 5);
    await ask(t, 2, { stream: true });
    const listed = JSON.parse((await svc('list', '--json')).stdout);
    assert.is(listed.captures.length, 2);
    const { id } = listed.captures[0];
    assert.match((await svc('list')).stdout, new RegExp(id.slice(-6)));
    const printed = await svc('show', id.slice(-6));
    assert.match(printed.stdout, /Attempt 0 +messages, .* 200 after .*, complete/);
    const full = await svc('show', id, '--full');
    assert.match(full.stdout, /"content": "hello"/);
    assert.not.match(full.stdout, /own-key/);
    const one = JSON.parse((await svc('show', id, '--json')).stdout).captures[0];
    assert.is(one.attempts[0].response.end, 'complete');
    assert.is((await svc('show', 'nothing-like-it')).code, 5);

    assert.is((await svc('show', id, '--save', 'one.msgpack')).code, 0);
    assert.is(statSync(join(place.folder, 'one.msgpack')).mode & 0o777, 0o600);
    assert.is((await svc('show', id, '--save', 'one.msgpack')).code, 6);
    const all = await svc('run', '--check');
    assert.is(all.code, 0, all.stdout + all.stderr);
    assert.match(all.stdout, /2 requests replayed in [\d.]+ s: 2 the same, 0 different/);
    assert.is((await svc('run', 'one.msgpack', '--check')).code, 0);

    assert.match((await svc('clear')).stdout, /1 file of captures deleted/);
    assert.is((await svc('run')).code, 5);
    await ask(t, 1);
    assert.is(
      JSON.parse((await svc('list', '--json')).stdout).captures.length,
      1,
      'recording continues',
    );
  }));

test('a difference is shown side by side, and fails a check', () =>
  withCaptures(async (t, svc, place) => {
    await ask(t, 1, { stream: true });
    const footer = readFileSync(fixturePath('plugins', 'footer.mjs'), 'utf8');
    const plugin = join(place.folder, 'footer.mjs');
    const source = footer
      .replace(/if \(typeof value.*/, '')
      .replaceAll('config.text', "' [checked]'");
    writeFileSync(plugin, source, { mode: 0o600 });
    const checked = await svc('run', '--plugin', plugin, '--check');
    assert.is(checked.code, 1, checked.stderr);
    assert.match(checked.stdout, /answer: bytes +\d+ bytes → \d+ bytes/);
    assert.match(checked.stdout, /\+.*text_delta/);
    const asJson = JSON.parse((await svc('run', '--plugin', plugin, '--json')).stdout);
    assert.is(asJson.different, 1);
    assert.not(asJson.captures[0].same_answer);
    assert.is((await svc('run', '--plugin', plugin)).code, 0, 'only a check fails');
    assert.is((await svc('run', '--plugin', './none.mjs')).code, 4);
    // The plugin as it is in its file, with the settings that it requires.
    writeFileSync(plugin, footer, { mode: 0o600 });
    const withSettings = ['--plugin', plugin, '--settings', '{ text: " [read twice]" }'];
    const settled = await svc('run', ...withSettings, '--check');
    assert.is(settled.code, 1, settled.stderr);
    assert.match(settled.stdout, /\+.*\[read twice\]/);
    assert.match((await svc('run', '--plugin', plugin)).stderr, /text is missing/);
    assert.is((await svc('run', '--settings', '{}')).code, 2);
    const unread = await svc('run', '--plugin', plugin, '--settings', '{');
    assert.is(unread.code, 2);
    assert.match(unread.stderr, /not valid YAML/);
    const twice = await svc('run', '--plugin', plugin, '--settings', '{ text: a, text: b }');
    assert.match(twice.stderr, /"?text"? is defined twice/);
    const lenient = await svc('run', '--mode', 'lenient');
    assert.is(lenient.code, 2, 'an invalid mode is a usage error, as in every other command');
    assert.match(lenient.stderr, '--mode: "lenient" is not a mode');
  }));

test('a recipe is tried on captured requests, next to the configured recipes', () =>
  withCaptures(async (t, svc, place) => {
    const at = (name: string) => join(place.folder, name);
    const steps = Array.from({ length: 900 }, (_, n) => `step ${n}: all of part ${n * 7} is done`);
    const output = ['deploy 1.0', 'from main', 'to stage', ...steps, 'a', 'b', 'Done'].join('\n');
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'deploy shop' } };
    const result = { type: 'tool_result', tool_use_id: 't1', content: output };
    const messages = [
      { role: 'user', content: 'deploy it' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    await ask(t, 1, { messages });
    const recipe = (name: string, pattern: string) =>
      `name: ${name}\nmatch: { program: deploy }\nmust_keep: [Done]\noperations:\n  - drop_lines: { pattern: '${pattern}' }\n`;
    mkdirSync(at('recipes'));
    writeFileSync(at('recipes/deploy.yaml'), recipe('deploy', '^step '));
    writeFileSync(at('other.yaml'), recipe('other', '^nothing like it'));
    writeFileSync(at('broken.yaml'), recipe('broken', '(a+)+$'));
    assert.is((await svc('run', '--check')).code, 0);
    assert.is((await svc('run', '--recipe', 'other.yaml', '--check')).code, 0);
    for (const path of ['recipes/deploy.yaml', 'recipes']) {
      const checked = await svc('run', '--recipe', path, '--check');
      assert.is(checked.code, 1, checked.stderr);
      assert.match(checked.stdout, /request of attempt 0: bytes|upstream/i);
      assert.match(checked.stdout, /\+.*svc omitted 900 of/);
      const { captures } = JSON.parse((await svc('run', '--recipe', path, '--json')).stdout);
      assert.ok(captures[0].upstream_bytes.replayed < captures[0].upstream_bytes.recorded / 5);
      assert.ok(captures[0].same_answer);
    }
    const broken = await svc('run', '--recipe', 'broken.yaml');
    assert.is(broken.code, 4);
    assert.match(broken.stderr, /broken\.yaml:5: .*can take very long/);
    assert.is((await svc('run', '--recipe', 'none.yaml')).code, 4);
  }));

const REQUEST = {
  model: 'claude-sonnet-4-5',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
};
const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 3 },
};

test('a HAR file is replayed unchanged, without its credentials', () =>
  withCaptures(async (_t, svc, place) => {
    const entry = (url: string, method = 'POST') => ({
      startedDateTime: '2026-01-02T03:04:05.000Z',
      time: 120,
      request: {
        method,
        url,
        headers: [
          { name: ':authority', value: 'api.example.com' },
          { name: 'x-api-key', value: 'sk-ant-har-0123456789' },
          { name: 'content-type', value: 'application/json' },
        ],
        postData: { mimeType: 'application/json', text: JSON.stringify(REQUEST) },
      },
      response: {
        status: 200,
        headers: [{ name: 'content-type', value: 'application/json' }],
        content: {
          encoding: 'base64',
          text: Buffer.from(JSON.stringify(ANSWER)).toString('base64'),
        },
      },
    });
    const entries = [
      entry('https://api.example.com/proxy/v1/messages'),
      entry('https://api.example.com/favicon.ico', 'GET'),
    ];
    writeFileSync(join(place.folder, 'x.har'), JSON.stringify({ log: { entries } }));
    const ran = await svc('run', 'x.har', '--check');
    assert.is(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /1 request replayed/);
    assert.match(ran.stderr, /1 of other requests/);
    assert.is((await svc('import', 'x.har', 'x.msgpack')).code, 0);
    assert.not(readFileSync(join(place.folder, 'x.msgpack')).includes('sk-ant-har'));
    assert.is((await svc('run', 'x.msgpack', '--check')).code, 0);
  }));

test('a session of Claude Code is replayed turn by turn', () =>
  withCaptures(async (_t, svc, place) => {
    const log = Array.from(
      { length: 600 },
      (_, n) =>
        `2026-01-01T10:00:${String(n % 60).padStart(2, '0')} INFO worker ${n % 7} polled the queue`,
    ).join('\n');
    const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat app.log' } };
    const line = (type: string, message: object) =>
      JSON.stringify({ type, message, sessionId: 's-1', timestamp: '2026-01-02T03:04:05Z' });
    const { content, ...answer } = ANSWER;
    const lines = [
      JSON.stringify({ type: 'summary', summary: 'x' }),
      line('user', { role: 'user', content: 'why does it hang?' }),
      line('assistant', { ...answer, content: [{ type: 'text', text: 'I look.' }] }),
      line('assistant', { ...answer, content: [call] }),
      line('user', {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content: log }],
      }),
      line('assistant', { ...answer, id: 'msg_2', content }),
    ];
    writeFileSync(join(place.folder, 's.jsonl'), lines.join('\n'));
    const strict = await svc('run', 's.jsonl', '--mode', 'strict', '--check');
    assert.is(strict.code, 0, strict.stdout + strict.stderr);
    const smaller = JSON.parse((await svc('run', 's.jsonl', '--mode', 'hybrid', '--json')).stdout);
    assert.is(smaller.replayed, 2, 'blocks of one response are counted as one');
    const [, second] = smaller.captures;
    assert.ok(second.upstream_bytes.replayed < second.upstream_bytes.recorded / 2);
    assert.ok(second.same_answer);
    assert.is(second.model, 'claude-sonnet-4-5');
  }));

test('a file of another kind and a truncated file get different errors', () =>
  withCaptures(async (t, svc, place) => {
    const at = (name: string) => join(place.folder, name);
    writeFileSync(at('notes.txt'), 'nothing of that kind');
    writeFileSync(at('zeros.msgpack'), Buffer.from([0x93, 1, 2, 3]));
    assert.is((await svc('run', 'notes.txt')).code, 8);
    const zeros = await svc('run', 'zeros.msgpack');
    assert.is(zeros.code, 8);
    assert.match(zeros.stderr, /Not a capture file/);
    await ask(t, 2);
    const { captures } = JSON.parse((await svc('list', '--json')).stdout);
    for (const [index, { id }] of captures.entries())
      await svc('show', id, '--save', `${index}.msgpack`);
    const [a, b] = [0, 1].map((index) => readFileSync(at(`${index}.msgpack`)));
    writeFileSync(at('cut.msgpack'), Buffer.concat([a!, b!.subarray(0, 200)]));
    const cut = await svc('run', 'cut.msgpack', '--check');
    assert.is(cut.code, 0, cut.stderr);
    assert.match(cut.stderr, /record 2 cannot be read: it was cut short/);
    assert.ok(existsSync(at('cut.msgpack')));

    const delayed = Buffer.from(b!);
    const valueAt = delayed.indexOf('startedMs') + 'startedMs'.length;
    delayed[valueAt] = 0xcb;
    delayed.writeDoubleBE(1e300, valueAt + 1);
    writeFileSync(at('late.msgpack'), Buffer.concat([a!, delayed]));
    const replayed = await svc('run', 'late.msgpack');
    assert.is(replayed.code, 0, replayed.stderr);
    assert.match(replayed.stderr, /record 2 cannot be read: startedMs must be at most/);
  }));

test.after(closeClients);
test.run();
