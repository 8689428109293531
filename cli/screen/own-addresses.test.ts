/**
 * The addresses at which other machines reach the dashboard, and the login link for one of them.
 */
import { isIP } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import { control } from '../remote.ts';
import { originsElsewhere } from './own-addresses.ts';

test('an address that others can reach is named, and loopback is not', () => {
  for (const url of ['http://127.0.0.1:8766', 'http://localhost:1', 'http://[::1]:8766'])
    assert.equal(originsElsewhere(url), [], url);
  assert.equal(originsElsewhere('http://10.1.2.3:8766'), ['http://10.1.2.3:8766']);
  assert.equal(originsElsewhere('http://box.lan:8766'), ['http://box.lan:8766']);
  for (const url of ['http://0.0.0.0:8766', 'http://[::]:8766'])
    for (const origin of originsElsewhere(url)) {
      const { hostname, port } = new URL(origin);
      assert.is(port, '8766');
      assert.ok(isIP(hostname.replace(/^\[|\]$/g, '')) > 0, origin);
      assert.not.match(origin, /127\.0\.0\.1|0\.0\.0\.0|\[::/);
    }
});

test('the proxy creates a link as soon as there is a key, and only then', async () => {
  const place = makePlace();
  const proxy = start(place, ['serve', '--port', '0']);
  const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
  try {
    const refused = await control(place.home, 'dashboard-link').catch((thrown: Error) => thrown);
    assert.match((refused as Error).message, /no proxy key/);
    const plain = await run(place, ['dashboard', '--public', '--json']);
    assert.equal(JSON.parse(plain.stdout), { url: `${url}/dashboard` });
    const { key } = JSON.parse((await run(place, ['auth', '--generate', '--json'])).stdout) as {
      key: string;
    };
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const made = await control(place.home, 'dashboard-link');
    assert.is(made['expires_in_s'], 300);
    assert.not.equal(made['token'], key);
    const logIn = () =>
      fetch(`${url}/dashboard/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ link: made['token'] }),
      });
    const first = await logIn();
    assert.is(first.status, 200);
    assert.match(first.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Strict/);
    assert.is((await logIn()).status, 401);
    const log = await run(place, ['logs', '--json']);
    assert.not.ok((log.stdout + log.stderr).includes(String(made['token'])));
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    place.dispose();
  }
});

test.run();
