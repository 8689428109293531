/** The purpose and the limits of keys, as typed and as shown. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';

type Key = Readonly<Record<string, unknown>>;

test('limits are shown, updated, removed, and inherited by a rotated key', async () => {
  const place = makePlace();
  const made = await run(place, [
    'auth',
    '--generate',
    '--json',
    '--label=anna',
    '--project=shop',
    '--expires=90d',
    '--models=claude-*, gpt-5*',
    '--providers=messages',
    '--may=capture',
    '--per-day-usd=5',
    '--per-month-usd=99.50',
  ]);
  assert.is(made.code, 0, made.stderr);
  const limits = ({ project, models, providers, may }: Key) => [project, models, providers, may];
  const wanted = ['shop', ['claude-*', 'gpt-5*'], ['messages'], ['capture']];
  assert.equal(limits(JSON.parse(made.stdout) as Key), wanted);
  const list = await run(place, ['auth', 'list']);
  assert.match(
    list.stdout,
    /anna +shop .* models claude-\*, gpt-5\*; providers messages; \$5 a day; \$99\.5 a month +live$/m,
  );
  const update = async (...argv: string[]) => {
    const ran = await run(place, ['auth', 'update', 'anna', ...argv, '--json']);
    assert.is(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout) as Key;
  };
  assert.equal(limits(await update('--models', 'claude-haiku*')), [
    'shop',
    ['claude-haiku*'],
    ['messages'],
    ['capture'],
  ]);
  const { per_day_usd: perDay, per_month_usd: perMonth } = await update('--per-day-usd', 'any');
  assert.equal([perDay, perMonth], [null, 99.5]);
  const { expires } = await update('--expires', 'never', '--providers', 'any', '--may', 'none');
  assert.is(expires, null);
  const rotated = await run(place, ['auth', 'rotate', 'anna', '--json']);
  assert.equal(limits(JSON.parse(rotated.stdout) as Key), ['shop', ['claude-haiku*'], null, []]);
  assert.equal(limits(await update('--project', 'none', '--models', 'any')), [
    null,
    null,
    null,
    [],
  ]);
  const file = JSON.parse(readFileSync(join(place.home, 'keys.json'), 'utf8')) as { keys: Key[] };
  assert.not('models' in file.keys[1]!);
  place.dispose();
});

test('an invalid limit is refused and changes nothing', async () => {
  const place = makePlace();
  for (const argv of [
    ['--models', ''],
    ['--models', 'any,claude-*'],
    ['--models', 'a b'],
    ['--providers', ','],
    ['--project', '/srv/shop'],
    ['--project', ' '],
    ['--expires', 'soon'],
    ['--may', 'everything'],
    ['--per-day-usd', '-1'],
    ['--per-day-usd=-1'],
    ['--per-month-usd', '1e9'],
    ['--may', ''],
    ['--may', 'none,capture'],
    ['--label', ''],
    ['--label', '  '],
    ['--label', 'a\nb'],
    ['--label', 'x'.repeat(201)],
    ['--providers', 'nope'],
    ['--providers', 'messages,nop*'],
  ]) {
    const ran = await run(place, ['auth', '--generate', '--label', 'x', ...argv]);
    assert.is(ran.code, exitCodes.usage, argv.join(' '));
  }
  assert.is((await run(place, ['auth', 'update', 'x'])).code, exitCodes.usage);
  const strange = await run(place, ['auth', '--generate', '--providers', 'nope']);
  assert.match(
    strange.stderr,
    /'nope' is not a configured provider.*\n.*messages.*chat.*generative/,
  );
  const negative = await run(place, ['auth', '--generate', '--per-day-usd', '-5']);
  assert.match(negative.stderr, /--per-day-usd needs a value, and "-5" begins like an option/);
  for (const command of ['revoke', 'rotate'])
    assert.is((await run(place, ['auth', command, ''])).code, exitCodes.usage, command);
  assert.is((await run(place, ['auth', 'update', 'x', '--models', 'a'])).code, exitCodes.not_found);
  assert.match((await run(place, ['auth', 'list'])).stderr, 'No keys');
  place.dispose();
});

test('a limit that matches no known model is stored, with a warning', async () => {
  const place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  writeFileSync(
    join(place.home, 'config.yaml'),
    'providers: { chat: { model_aliases: { small: local-tiny-1 } } }\nmodels: { mine: { provider: chat } }\n',
    { mode: 0o600 },
  );
  const warnings = async (...argv: string[]) => {
    const ran = await run(place, ['auth', ...argv]);
    assert.is(ran.code, 0, ran.stderr);
    return ran.stderr.split('\n').filter((line) => line.startsWith('warning'));
  };
  for (const [typed, hint] of [
    ['claud-*', /'claud-\*' matches no model .*; did you mean claude-\*\?/],
    ['gpt5*', /'gpt5\*'/],
    ['claude-opus-9-9', /'claude-opus-9-9'/],
    ['claude-*,sonet*', /'sonet\*'/],
    ['*-nothing', /'\*-nothing'/],
  ] as const) {
    for (const argv of [
      ['--generate', '--label', 'x'],
      ['--generate', '--json'],
      ['update', 'x'],
    ]) {
      const printed = await warnings(...argv, '--models', typed);
      assert.is(printed.length, 1, `${argv.join(' ')} ${typed}: ${printed.join()}`);
      assert.match(printed[0]!, hint);
    }
    await run(place, ['auth', 'revoke', 'x']);
  }
  const known = 'claude-*,GPT-5*,gemini-?.5-*,claude-opus-4-8-20260101,*,small,local-*,mine';
  assert.equal(await warnings('--generate', '--models', known), []);
  assert.equal(await warnings('--generate', '--label', 'y'), []);
  assert.equal(await warnings('update', 'y', '--models', 'any'), []);
  const [name] = (await run(place, ['auth', 'list', '--json'])).stdout.match(/"claud-\*"/) ?? [];
  assert.is(name, '"claud-*"');
  place.dispose();
});

test.run();
