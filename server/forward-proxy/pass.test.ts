/** What passes to an opened host that is not there. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../engine/index.ts';
import { createPass } from './pass.ts';

test('a host that cannot be found is a bad gateway, and no fault of the proxy', async () => {
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  const pass = createPass((_way, done) => done(unknown, null));
  let error: SvcError | undefined;
  const server = createServer((request, response) => {
    pass.request(request, response, 'gone.test', {
      failed: (found) => {
        error = found;
        response.writeHead(502).end();
      },
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}/api/settings`)).text();
  assert.is(error?.kind, 'bad_gateway');
  assert.match(error!.message, 'gone.test cannot be reached');
  server.close();
});

test.run();
