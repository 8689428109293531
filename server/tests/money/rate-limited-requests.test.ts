/** Which requests count against an address's rate limit, and which do not count at all. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const YAML = 'security: { rate_limit_per_minute: 3 }';
const FOREIGN = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

test('a foreign page does not use up the rate limit of this machine', async () => {
  await withProxy({ yaml: YAML }, async ({ proxy }) => {
    for (const path of ['/health', '/', '/docs', '/openapi.yaml', '/stats', '/v1/models'])
      for (let n = 0; n < 5; n += 1)
        await exchange(proxy.port, { method: 'GET', path, headers: FOREIGN });
    for (let n = 0; n < 3; n += 1) {
      const response = await exchange(proxy.port, { body: json(MESSAGE) });
      assert.is(response.status, 200, `request ${n}`);
    }
    assert.is((await exchange(proxy.port, { body: json(MESSAGE) })).status, 429);
  });
});

test('public pages have a rate limit of their own', async () => {
  await withProxy({ yaml: YAML }, async ({ proxy }) => {
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const sent = { method: 'GET', path: '/docs', headers: FOREIGN };
      statuses.push((await exchange(proxy.port, sent)).status);
    }
    assert.equal(statuses, [200, 200, 200, 429, 429]);
  });
});

test('health checks do not count', async () => {
  await withProxy({ yaml: YAML }, async ({ proxy }) => {
    for (let n = 0; n < 5; n += 1)
      for (const [method, path] of [
        ['GET', '/health'],
        ['HEAD', '/health'],
        ['HEAD', '/'],
        ['HEAD', '/api/hello'],
      ]) {
        const response = await exchange(proxy.port, { method: method!, path: path! });
        assert.is(response.status, 200, `${method} ${path}`);
      }
    for (let n = 0; n < 3; n += 1)
      assert.is((await exchange(proxy.port, { body: json(MESSAGE) })).status, 200);
    assert.is((await exchange(proxy.port, { body: json(MESSAGE) })).status, 429);
    assert.is((await exchange(proxy.port, { method: 'GET', path: '/health' })).status, 200);
  });
});

test.after(closeClients);
test.run();
