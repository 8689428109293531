import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { createManualClock } from '../../engine/clock.ts';
import { createKeyring } from '../../server/auth/auth.ts';
import { exitCodes } from '../exit.ts';
import { entry, makePlace, run } from '../../fixtures/cli/run.ts';

test('a key is printed once, alone on stdout, and only its hash is stored', async () => {
  const place = makePlace();
  const made = await run(place, ['auth', '--generate', '--label', 'laptop']);
  assert.is(made.code, 0);
  assert.match(made.stdout, /^svc_[\w-]{43}\n$/);
  const file = join(place.home, 'keys.json');
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.not.ok(readFileSync(file, 'utf8').includes(made.stdout.trim()));
  const list = await run(place, ['auth', 'list']);
  assert.match(list.stdout, /laptop .* never +live$/m);
  assert.not.ok(list.stdout.includes(made.stdout.trim()));
  place.dispose();
});

test('a disk that fills up while a key is written loses no key, and the error names the path', async () => {
  const place = makePlace();
  const add = ['auth', '--generate', '--label', 'a'.repeat(200)];
  for (let n = 0; n < 6; n += 1) assert.is((await run(place, add)).code, 0);
  const file = join(place.home, 'keys.json');
  const before = readFileSync(file, 'utf8');
  // A file size limit simulates a full disk: the first write is cut off.
  const shell = `trap '' XFSZ; ulimit -f 2; exec "$0" "$@"`;
  const { env } = place;
  const full = spawnSync('sh', ['-c', shell, process.execPath, entry, ...add], { env });
  assert.is(full.status, exitCodes.config);
  assert.is(full.stdout.toString(), '');
  assert.match(full.stderr.toString(), `${file}: it would be too large`);
  assert.is(readFileSync(file, 'utf8'), before);
  assert.not(readdirSync(place.home).includes('keys.json.new'));
  place.dispose();
});

test('list and revoke print JSON, and a missing key is reported as not found', async () => {
  const place = makePlace();
  const made = await run(place, ['auth', '--generate', '--expires', '30d', '--json']);
  const { id, expires, created } = JSON.parse(made.stdout) as Record<string, string>;
  assert.is(Date.parse(expires ?? '') - Date.parse(created ?? ''), 30 * 86_400_000);
  const revoked = await run(place, ['auth', 'revoke', id ?? '', '--json']);
  assert.is((JSON.parse(revoked.stdout) as { state: string }).state, 'revoked');
  const { keys } = JSON.parse((await run(place, ['auth', 'list', '--json'])).stdout) as {
    keys: Record<string, string>[];
  };
  assert.equal(
    keys.map((key) => [key['id'], key['state'], 'sha256' in key]),
    [[id, 'revoked', false]],
  );
  const again = await run(place, ['auth', 'revoke', id ?? '']);
  assert.equal([again.code, again.stdout], [exitCodes.not_found, '']);
  assert.match(again.stderr, /`svc auth list`/);
  place.dispose();
});

test('during the grace period the old and the new key are both accepted, then only the new one', async () => {
  const place = makePlace();
  const clock = createManualClock(Date.now());
  const file = join(place.home, 'keys.json');
  const first = JSON.parse(
    (await run(place, ['auth', '--generate', '--label', 'ci', '--json'], { clock })).stdout,
  ) as Record<string, string>;
  const keyring = createKeyring({ file, clock });
  const verdicts = (...keys: readonly (string | undefined)[]) => {
    clock.advance(1001);
    return keys.map((key) => {
      const verdict = keyring.check(key ?? '');
      return typeof verdict === 'string' ? verdict : verdict.keyId;
    });
  };
  assert.equal(verdicts(first['key']), [first['id']]);
  const argv = ['auth', 'rotate', 'ci', '--grace', '1h', '--expires', '90d', '--json'];
  const second = JSON.parse((await run(place, argv, { clock })).stdout) as Record<string, string>;
  assert.is(second['label'], 'ci');
  assert.equal(verdicts(first['key'], second['key']), [first['id'], second['id']]);
  // The label refers to the newest key; the lifetime is kept.
  const again = ['auth', 'rotate', 'ci', '--json'];
  const third = JSON.parse((await run(place, again, { clock })).stdout) as Record<string, string>;
  const spanMs = Date.parse(third['expires'] ?? '') - Date.parse(third['created'] ?? '');
  assert.is(spanMs, 90 * 86_400_000);
  clock.advance(3_600_000);
  assert.equal(verdicts(first['key'], second['key'], third['key']), [
    'dead',
    second['id'],
    third['id'],
  ]);
  // Revoked at once, even within the grace period.
  assert.is((await run(place, ['auth', 'revoke', second['id'] ?? ''], { clock })).code, 0);
  assert.equal(verdicts(second['key']), ['dead']);
  for (const [name, code] of [
    ['nobody', exitCodes.not_found],
    [first['id'] ?? '', exitCodes.not_found],
  ] as const)
    assert.is((await run(place, ['auth', 'rotate', name], { clock })).code, code);
  assert.is((await run(place, ['auth', 'rotate', 'ci', '--grace', 'x'])).code, exitCodes.usage);
  place.dispose();
});

test.run();
