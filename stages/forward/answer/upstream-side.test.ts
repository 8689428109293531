/** What a provider must not be able to do to the proxy or to the client. */
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { request as scenario } from '../../../fixtures/upstream.ts';
import { closeClients, exchange, openResponse } from '../../../fixtures/server/exchange.ts';
import { bodyOf, clientKey } from '../../../fixtures/forward/pair.ts';

const STREAM = {
  path: '/v1/messages',
  body: bodyOf('messages', true),
  headers: clientKey('messages'),
};

test('a stream that a client abandons costs one connection, not two', () =>
  withProxy({}, async (t) => {
    t.upstream.script(undefined, 'slow-drip', { bytes: 1, everyMs: 5 });
    for (let n = 0; n < 5; n += 1) {
      const leave = new AbortController();
      const response = await openResponse(t.proxy.port, { ...STREAM, signal: leave.signal });
      response.on('error', () => undefined);
      const closed = t.upstream.nextClose();
      leave.abort();
      await closed;
    }
    // Closed connections are never replaced, however long the wait.
    await pause(100);
    assert.equal([t.upstream.requests.length, t.upstream.connections.length], [5, 5]);
    t.upstream.reset();
    assert.is((await exchange(t.proxy.port, STREAM)).status, 200, 'the next request is served');
  }));

const BODY = '{"id":"m"}';

for (const status of ['200 OK', '400 Bad', '500 Oops'])
  test(`the provider cannot set the proxy's own headers or clear browser storage: ${status}`, () =>
    withProxy({}, async (t) => {
      const head = [
        `HTTP/1.1 ${status}`,
        'Content-Type: application/json',
        `Content-Length: ${BODY.length}`,
        'X-Svc-Cache: hit',
        'x-svc-request-id: theirs',
        'Clear-Site-Data: "*"',
        'X-Theirs: kept',
      ];
      const answer = scenario((connection) =>
        connection.write(`${head.join('\r\n')}\r\n\r\n${BODY}`),
      );
      t.upstream.script(undefined, answer);
      const { headers } = await exchange(t.proxy.port, {
        ...STREAM,
        body: bodyOf('messages', false),
      });
      assert.equal(
        [headers['x-svc-cache'], headers['clear-site-data'], headers['x-theirs']],
        [undefined, undefined, 'kept'],
      );
      assert.not.match(String(headers['x-svc-request-id']), 'theirs');
    }));

test.after(closeClients);
test.run();
