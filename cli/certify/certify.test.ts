/** `svc certify` on made-up sessions: promises that hold, and a failure for each kind of harm. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { claudeCodeLines, codexLines, geminiLines } from '../../fixtures/sessions.ts';

type Json = Readonly<Record<string, unknown>>;

function write(place: Place, path: string, text: string): void {
  mkdirSync(join(place.folder, path, '..'), { recursive: true });
  writeFileSync(join(place.folder, path), text, { mode: 0o600 });
}

const ERROR = 'error: part 210 <b>is missing</b> in the store of ☃';

/** Returns a session with a deployment of 400 parts, one missing; the model repeats its error. */
function failedSession(): string {
  const parts = Array.from({ length: 400 }, (_, n) =>
    n === 210 ? ERROR : `  fetch part ${n}: 200 in ${n % 37} ms, unpacked to /var/shop/part-${n}`,
  );
  const log = ['shop 2.1 deploying 400 parts', ...parts, 'took 4.4 s', 'exit status 1'].join('\n');
  const say = (role: 'user' | 'assistant', n: number, content: unknown): object => ({
    type: role,
    sessionId: 'shop-1',
    uuid: `${role}-${n}`,
    timestamp: `2026-01-01T00:0${n}:00Z`,
    message:
      role === 'user'
        ? { role, content }
        : { role, content, id: `msg-${n}`, model: 'claude-sonnet-4-5' },
  });
  const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'shop deploy' } };
  return [
    say('user', 0, 'Deploy it.'),
    say('assistant', 0, [call]),
    say('user', 1, [{ type: 'tool_result', tool_use_id: 't1', content: log }]),
    say('assistant', 1, [{ type: 'text', text: `It says:\n${ERROR}` }]),
    say('user', 2, 'Thanks.'),
    say('assistant', 2, [{ type: 'text', text: 'Done.' }]),
  ]
    .map((line) => JSON.stringify(line))
    .join('\n');
}

const checksOf = (stdout: string): Json => {
  const { checks } = JSON.parse(stdout) as { checks: { name: string; holds: boolean }[] };
  return Object.fromEntries(checks.map(({ name, holds }) => [name, holds]));
};

test('sessions of several clients pass, and no output line exceeds 80 columns', () =>
  inPlace(async (place) => {
    write(place, '.claude/projects/-app/one.jsonl', claudeCodeLines().join('\n'));
    write(place, '.codex/sessions/2026/01/02/rollout-1.jsonl', codexLines().join('\n'));
    write(place, '.gemini/tmp/app/chats/session-1.jsonl', geminiLines().join('\n'));
    const ran = await run(place, ['certify']);
    assert.is(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /^The certificate holds: 3 sessions, 9 requests, mode hybrid\n/);
    for (const client of ['claude-code', 'codex', 'gemini-cli']) assert.match(ran.stdout, client);
    for (const line of ran.stdout.split('\n')) assert.ok(Array.from(line).length <= 80, line);
  }));

test('without sessions the session of the demo is judged, and the output says so', () =>
  inPlace(async (place) => {
    const ran = await run(place, ['certify']);
    assert.is(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /^The certificate holds: the demo’s session/);
  }));

test('a recipe that drops an error line fails the certificate, which shows where', () =>
  inPlace(async (place) => {
    write(place, 'sessions/shop.jsonl', failedSession());
    const kept = await run(place, ['certify', 'sessions', '--json']);
    assert.is(kept.code, 0, kept.stdout + kept.stderr);
    const { lines_quoted: quoted, failure_lines: failures } = JSON.parse(kept.stdout) as Json;
    assert.ok(Number(quoted) >= 1 && Number(failures) >= 3, kept.stdout);

    write(
      place,
      'harm.yaml',
      "name: harm\nmatch: { program: shop }\nmust_keep: ['^took']\noperations:\n  - drop_lines: { pattern: '^error: ' }\n  - drop_lines: { pattern: '^  fetch part ' }\nexamples: []\n",
    );
    write(place, 'harm-config.yaml', 'compression: { recipes: [harm.yaml] }\n');
    const options = ['certify', 'sessions', '--config', 'harm-config.yaml'];
    const harmed = await run(place, [...options, '--json']);
    assert.is(harmed.code, 1, harmed.stdout + harmed.stderr);
    const checks = checksOf(harmed.stdout);
    assert.equal([checks['failures'], checks['retention']], [false, false]);
    const shown = await run(place, [...options, '--html', 'page.html']);
    assert.is(shown.code, 1);
    assert.match(shown.stdout, /^The certificate does not hold, 2 of 5/);
    assert.match(shown.stdout, 'Failures: session shop-1, turn 3, block 3');
    assert.match(shown.stdout, ERROR);
    const page = readFileSync(join(place.folder, 'page.html'), 'utf8');
    assert.match(page, 'error: part 210 &lt;b&gt;is missing&lt;/b&gt;');
    assert.not.match(page, '<b>');

    const alerts = 'alerts:\n  - { name: promise, when: { metric: broken_promises, above: 0 } }\n';
    assert.is(existsSync(place.home), false, 'reading creates no home folder');
    mkdirSync(place.home, { mode: 0o700 });
    write(place, 'home/config.yaml', alerts);
    const unknown = await run(place, ['check-alerts']);
    assert.is(unknown.code, 0, unknown.stderr);
    assert.match(unknown.stdout, 'broken_promises is not measured');
    await run(place, options);
    const firing = await run(place, ['check-alerts']);
    assert.is(firing.code, 1, firing.stdout);
    assert.match(firing.stdout, 'broken_promises is 2, fires above 0');
    await run(place, ['certify', 'sessions']);
    assert.is(
      (await run(place, ['check-alerts'])).code,
      0,
      'the alert ends once the promise holds again',
    );
  }));

test('a folder without sessions is reported as not found', () =>
  inPlace(async (place) => {
    write(place, 'empty/readme.txt', 'nothing');
    const ran = await run(place, ['certify', 'empty']);
    assert.is(ran.code, 5);
    assert.match(ran.stderr, 'There is no session in');
  }));

test.run();
