/** CORS headers of proxied responses come from this proxy alone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const BODY = json(MESSAGE);
const BOTH = 'Accept-Encoding, origin';
const CORS = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'] as const;
const PAGE = 'https://app.example';

test('CORS headers are set once, by this proxy', async () => {
  const cases: readonly (readonly [
    yaml: string,
    origin: string | undefined,
    fields: readonly (string | undefined)[],
  ])[] = [
    ['', undefined, [undefined, undefined, 'Accept-Encoding, origin']],
    [`security: { allowed_origins: ['${PAGE}'] }`, undefined, [undefined, undefined, BOTH]],
    [`security: { allowed_origins: ['${PAGE}'] }`, PAGE, [PAGE, 'X-Request-ID', BOTH]],
  ];
  for (const [yaml, origin, expected] of cases) {
    await withPlainUpstream({ yaml }, async (t, upstream) => {
      upstream.answer((response) => {
        response.writeHead(200, [
          ['content-type', 'application/json'],
          ['Access-Control-Allow-Origin', '*'],
          ['ACCESS-CONTROL-ALLOW-CREDENTIALS', 'true'],
          ['access-control-expose-headers', 'theirs'],
          ['access-control-max-age', '9'],
          ['Vary', 'Accept-Encoding, origin'],
        ] as never);
        response.end('{}');
      });
      const headers = origin === undefined ? {} : { origin };
      const received = await exchange(t.proxy.port, { body: BODY, headers });
      assert.is(received.status, 200, yaml);
      for (const [i, name] of CORS.entries()) {
        const fields = received.rawHeaders.filter((field) => field.toLowerCase() === name);
        assert.is(fields.length, expected[i] === undefined ? 0 : 1, `${yaml}: ${name}`);
        const value = received.headers[name];
        assert.is(typeof value === 'string' ? value.split(', Retry')[0] : value, expected[i], name);
      }
      assert.is(received.headers['access-control-allow-credentials'], undefined);
      assert.is(received.headers['access-control-max-age'], undefined);
    });
  }
});

test.after(closeClients);
test.run();
