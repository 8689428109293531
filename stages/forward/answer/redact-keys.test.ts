/** A careless provider repeats the key in an error: svc does not pass the secret on. */
import { gzipSync } from 'node:zlib';
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
import type { FullResponse } from '../../../fixtures/server/exchange.ts';

const CONFIGURED = 'configured/canary+1==';
const OWN = 'own-canary-2';

/** Returns what the client sees of a 400 with these headers and a body made from the key. */
async function refusedWith(
  bodyOf: (key: string) => string | Buffer,
  { fields = {}, own }: { fields?: Record<string, string>; own?: string } = {},
): Promise<FullResponse> {
  let answered: FullResponse | undefined;
  const env = { CHATPROV_API_KEY: CONFIGURED };
  await withPlainUpstream({ env }, async (t, upstream) => {
    upstream.answer((response, request) => {
      const key = (request.headers.authorization ?? '').replace('Bearer ', '');
      response.writeHead(400, { 'content-type': 'application/json', 'x-seen': key, ...fields });
      response.end(bodyOf(key));
    });
    const headers = own === undefined ? {} : { authorization: `Bearer ${own}` };
    answered = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      headers: { 'accept-encoding': 'gzip', ...headers },
      body: json(CHAT),
    });
  });
  return answered!;
}

const error = (message: string): string => JSON.stringify({ error: { message } });

test('a configured key is redacted in every encoding, and the rest of the error is kept', async () => {
  for (const [form, of] of [
    ['as it is', (key: string) => key],
    ['base64', (key: string) => Buffer.from(`Bearer ${key}`).toString('base64')],
    ['URL', encodeURIComponent],
  ] as const) {
    const { status, text, headers } = await refusedWith((key) =>
      error(`bad key ${of(key)}, see help`),
    );
    assert.is(status, 400);
    assert.match(text, /^\{"error":\{"message":"bad key .*\[redacted\].*, see help"\}\}$/, form);
    assert.not.match(text, /canary/);
    assert.is(headers['x-seen'], '[redacted]');
  }
});

test('a key in a compressed error is redacted too, and an error without the key is passed on unchanged', async () => {
  const fields = { 'content-encoding': 'gzip', 'x-seen': 'nothing' };
  const redacted = await refusedWith((key) => gzipSync(error(`bad key ${key}`)), { fields });
  assert.is(redacted.text, error('bad key [redacted]'));
  const bytes = gzipSync(error('bad model'));
  const other = await refusedWith(() => bytes, { fields });
  assert.ok(other.body.equals(bytes));
});

test('an error that never ends is redacted as it arrives', async () => {
  const env = { CHATPROV_API_KEY: CONFIGURED };
  await withPlainUpstream({ env }, async (t, upstream) => {
    upstream.answer((response) => {
      response.writeHead(409, { 'content-type': 'text/plain' });
      response.write(`bad key ${CONFIGURED}, and`);
    });
    const path = '/v1/chat/completions';
    const received = await openResponse(t.proxy.port, { path, body: json(CHAT) });
    for await (const piece of received) {
      assert.is(String(piece), 'bad key [redacted], and');
      break;
    }
  });
});

test('a client may see its own key in an error', async () => {
  const { text, headers } = await refusedWith((key) => error(`bad key ${key}`), { own: OWN });
  assert.is(text, error(`bad key ${OWN}`));
  assert.is(headers['x-seen'], OWN);
});

test.after(closeClients);
test.run();
