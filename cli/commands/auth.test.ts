import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'uvu';
import * as assert from 'uvu/assert';

import { exitCodes } from '../exit.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';

test('a key is printed once, alone on stdout, and only its hash is kept', async () => {
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

test('list and revoke speak JSON, and a key that is gone is not found', async () => {
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

test.run();
