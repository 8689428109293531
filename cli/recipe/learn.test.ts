/** `svc recipe learn`: its proposals, and that no session loses a needed line by them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run, write } from '../../fixtures/cli/run.ts';

/** A successful deployment. Seed and spelling change only names and numbers in its lines. */
const printed = (seed: number): string =>
  [
    'shop 2.1 deploying 140 parts',
    ...Array.from(
      { length: 140 },
      (_, n) => `  fetch part-${n * seed}: 200 in ${n % 37} ms, unpacked to /var/shop/part-${n}`,
    ),
    'warning: the disk is slow',
    'took 4.4 s',
    'Done',
  ].join('\n');

const QUOTED = printed(7).split('\n')[30]!;

/** Returns a session in which the model writes `quoted` after the deployment. */
function session(quoted: string): string {
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
    say('user', 1, [{ type: 'tool_result', tool_use_id: 't1', content: printed(7) }]),
    say('assistant', 1, [{ type: 'text', text: `It says:\n${quoted}` }]),
    say('user', 2, 'Thanks.'),
    say('assistant', 2, [{ type: 'text', text: 'Done.' }]),
  ]
    .map((line) => JSON.stringify(line))
    .join('\n');
}

const COMMAND = ['--command', 'shop deploy'];

test('a repeated line shape becomes a recipe that passes its own test', () =>
  inPlace(async (place) => {
    write(place, 'Deploy_Log.txt', printed(3));
    write(place, '.claude/projects/-app/one.jsonl', session('warning: the disk is slow'));
    const learned = await run(place, ['recipe', 'learn', 'Deploy_Log.txt', ...COMMAND]);
    assert.is(learned.code, 0, learned.stdout + learned.stderr);
    assert.match(learned.stdout, /^wrote deploy-log\.yaml: [\d,]+ → [\d,]+ tokens \(−[89]\d/);
    assert.match(
      learned.stdout,
      'Judged on 1 conversation, in 1 of which it ran: none of 1 quoted line is lost',
    );
    const tested = await run(place, ['recipe', 'test', 'deploy-log.yaml', '--show']);
    assert.is(tested.code, 0, tested.stdout);
    for (const line of ['warning: the disk is slow', 'took 4.4 s', 'shop 2.1 deploying 140 parts'])
      assert.match(tested.stdout, line);
    assert.is((await run(place, ['recipe', 'validate', 'deploy-log.yaml'])).code, 0);
    const again = await run(place, ['recipe', 'learn', 'Deploy_Log.txt', ...COMMAND]);
    assert.is(again.code, 6);
    assert.match(again.stderr, 'nothing was written');
  }));

test('a line shape is dropped if a session quotes one of its lines', () =>
  inPlace(async (place) => {
    write(place, 'deploy.log', printed(3));
    write(place, 'sessions/one.jsonl', session(QUOTED));
    const argv = ['recipe', 'learn', 'deploy.log', ...COMMAND, '--sessions', 'sessions'];
    const learned = await run(place, argv);
    assert.is(learned.code, 1, learned.stdout + learned.stderr);
    assert.match(learned.stdout, `lost: ${QUOTED.trim()}`);
    assert.match(learned.stdout, 'every shape would lose a line that a session needed');
    assert.not(existsSync(join(place.folder, 'deploy.yaml')));

    // Another shape of the same text is kept.
    const more = Array.from({ length: 40 }, (_, n) => `checked signature of /var/shop/part-${n}`);
    write(place, 'deploy.log', [printed(3), ...more].join('\n'));
    const json = JSON.parse((await run(place, [...argv, '--json'])).stdout);
    assert.is(json.given_up.length, 1);
    assert.equal(
      json.shapes.map((one: { pattern: string }) => one.pattern),
      ['^checked\\s+signature\\s+of\\s+\\S+'],
    );
    const recipe = readFileSync(join(place.folder, 'deploy.yaml'), 'utf8');
    assert.not.match(recipe, 'fetch');
  }));

test('a text without repeated shapes, an invalid name and a missing file are reported', () =>
  inPlace(async (place) => {
    write(place, 'prose.txt', 'One sentence.\nAnd another one, which is longer.\n');
    const none = await run(place, ['recipe', 'learn', 'prose.txt']);
    assert.is(none.code, 1);
    assert.match(none.stdout, 'Nothing was written: no line shape is frequent enough');
    assert.is((await run(place, ['recipe', 'learn', 'nowhere.txt'])).code, 5);
    const named = await run(place, ['recipe', 'learn', 'prose.txt', '--name', 'No Name']);
    assert.is(named.code, 2);
  }));

test('without any session the recipe is written, with a note that nothing judged it', () =>
  inPlace(async (place) => {
    write(place, 'alone.log', printed(3));
    const learned = await run(place, ['recipe', 'learn', 'alone.log', ...COMMAND]);
    assert.is(learned.code, 0, learned.stdout + learned.stderr);
    assert.match(learned.stdout, 'There was no session to judge it by');
    assert.not.match(learned.stdout, 'is lost');
    const longest = Math.max(
      ...readFileSync(join(place.folder, 'alone.yaml'), 'utf8')
        .split('\n')
        .map(({ length }) => length),
    );
    assert.ok(longest > 80, 'a pattern is not split into lines');
  }));

test.run();
