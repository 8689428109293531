/** A few kilobytes of an answer that decode to gigabytes: passed on as they are, refused where they must be read. */
import * as zlib from 'node:zlib';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../fixtures/server/exchange.ts';

const MB = 2 ** 20;
/** All of it would take seconds. */
const DECODED_BYTES = 2048 * MB;
const MOST_PROCESSOR_US = 1_000_000;

async function makeBomb(): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = zlib.constants;
  const encoder = zlib.createBrotliCompress({ params: { [quality]: 3, [window]: 24 } });
  const pieces: Buffer[] = [];
  encoder.on('data', (piece: Buffer) => void pieces.push(piece));
  encoder.write('{"text":"');
  const block = Buffer.alloc(MB, 'a');
  for (let at = 0; at < DECODED_BYTES; at += MB) {
    if (!encoder.write(block)) await once(encoder, 'drain');
  }
  encoder.end('"}');
  await once(encoder, 'end');
  return Buffer.concat(pieces);
}

test('an answer bomb costs little processor time', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const bomb = await makeBomb();
    const send = (type: string) =>
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': type, 'content-encoding': 'br' });
        response.end(bomb);
      });
    let count = 0;
    for (const type of ['application/json', 'text/event-stream']) {
      send(type);
      for (const stream of [false, true]) {
        const before = process.cpuUsage();
        const passed = await exchange(t.proxy.port, { body: json(MESSAGE, { stream }) });
        assert.is(passed.status, 200);
        assert.ok(passed.body.equals(bomb), 'it goes on as it came');
        await t.rows((count += 1));
        const { user, system } = process.cpuUsage(before);
        assert.ok(user + system < MOST_PROCESSOR_US, `${user + system} µs of processor`);
      }
    }
  }));

test('where it must be read to be translated it is a bad gateway', () =>
  withPlainUpstream({ yaml: 'routing: { primary: messages }' }, async (t, upstream) => {
    const bomb = await makeBomb();
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' });
      response.end(bomb);
    });
    const before = process.cpuUsage();
    const { status } = await exchange(t.proxy.port, {
      path: '/v1/chat/completions',
      body: json(CHAT, { model: MESSAGE.model }),
    });
    const { user, system } = process.cpuUsage(before);
    assert.is(status, 502);
    assert.ok(user + system < MOST_PROCESSOR_US, `${user + system} µs of processor`);
  }));

test.after(closeClients);
test.run();
