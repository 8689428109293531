/** Errors whose body never ends: the part received so far decides, and the client sees it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import {
  CHAT,
  closeClients,
  exchange,
  json,
  openResponse,
} from '../../../fixtures/server/exchange.ts';

const REFUSES_OPTIONS = JSON.stringify({
  error: { message: 'Unrecognized request argument supplied: stream_options' },
});
const JSON_TYPE = { 'content-type': 'application/json' };
const path = '/v1/chat/completions';
const own = { authorization: 'Bearer mine' };

test('a refusal that never ends is understood, and the request is sent again without the refused part', async () => {
  await withPlainUpstream({}, async (t, upstream) => {
    let requests = 0;
    upstream.answer((response) => {
      requests += 1;
      if (requests === 1) {
        response.writeHead(400, JSON_TYPE).write(REFUSES_OPTIONS);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n');
    });
    const body = json(CHAT, { stream: true });
    const received = await exchange(t.proxy.port, { path, headers: own, body });
    assert.is(received.status, 200, received.text);
    assert.is(requests, 2);
  });
});

for (const [name, status, body] of [
  ['a refusal of something else', 400, '{"error":{"message":"no such model"'],
  ['a failure', 500, '{"error":{"message":"out of'],
  ['no right', 403, '{"error":'],
] as const) {
  test(`${name} is passed on to the client as far as it arrived`, async () => {
    await withPlainUpstream({}, async (t, upstream) => {
      upstream.answer((response) => void response.writeHead(status, JSON_TYPE).write(body));
      const sent = json(CHAT, { stream: true });
      const received = await openResponse(t.proxy.port, { path, headers: own, body: sent });
      assert.is(received.statusCode, status);
      let seen = '';
      for await (const piece of received) {
        seen += String(piece);
        if (seen.length >= body.length) break;
      }
      assert.is(seen, body);
    });
  });
}

test.after(closeClients);
test.run();
