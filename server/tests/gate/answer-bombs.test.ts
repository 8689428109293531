/**
 * A small response that decompresses to a huge one: forwarded unchanged, or refused if it must be
 * decoded.
 */
import * as zlib from 'node:zlib';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { processorMs } from '../../../fixtures/growth.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

const MB = 2 ** 20;
const DECODED_BYTES = 256 * MB;
/**
 * Highest share of the processor time for decoding the whole bomb; passing it on takes a twentieth.
 */
const MAX_PART = 1 / 2;
/** More than one, because the proxy's start or a garbage collection may fall into one attempt. */
const ATTEMPTS = 5;

let made: Promise<{ bomb: Buffer; wholeMs: number }> | undefined;

/** Returns a bomb and the processor time for decoding it whole, in milliseconds. */
function makeOnce(): Promise<{ bomb: Buffer; wholeMs: number }> {
  made ??= makeBomb().then(async (bomb) => ({ bomb, wholeMs: await wholeMs(bomb) }));
  return made;
}

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

function wholeMs(bomb: Buffer): Promise<number> {
  return processorMs(async () => {
    const decoder = zlib.createBrotliDecompress();
    let sizeBytes = 0;
    decoder.on('data', (piece: Buffer) => void (sizeBytes += piece.length));
    decoder.end(bomb);
    await once(decoder, 'end');
    assert.ok(sizeBytes > DECODED_BYTES);
  });
}

/**
 * Repeats `work`, at most five times, until it takes a small part of the time for decoding the
 * whole bomb.
 */
async function costsLittle(work: () => Promise<void>): Promise<void> {
  const maxMs = (await makeOnce()).wholeMs * MAX_PART;
  let minMs = Number.POSITIVE_INFINITY;
  for (let attempts = 0; attempts < ATTEMPTS && minMs >= maxMs; attempts += 1)
    minMs = Math.min(minMs, await processorMs(work));
  assert.ok(minMs < maxMs, `${minMs} ms of CPU time, of at most ${maxMs}`);
}

test('a decompression bomb uses little processor time', () =>
  withPlainUpstream({}, async (t, upstream) => {
    const { bomb } = await makeOnce();
    const send = (type: string) =>
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': type, 'content-encoding': 'br' });
        response.end(bomb);
      });
    let count = 0;
    for (const type of ['application/json', 'text/event-stream']) {
      send(type);
      for (const stream of [false, true]) {
        await costsLittle(async () => {
          const passed = await exchange(t.proxy.port, { body: json(MESSAGE, { stream }) });
          assert.is(passed.status, 200);
          assert.ok(passed.body.equals(bomb), 'it is forwarded unchanged');
          await t.rows((count += 1));
        });
      }
    }
  }));

test('a decompression bomb that would have to be translated gives a 502', () =>
  withPlainUpstream({ yaml: 'routing: { primary: messages }' }, async (t, upstream) => {
    const { bomb } = await makeOnce();
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' });
      response.end(bomb);
    });
    await costsLittle(async () => {
      const { status } = await exchange(t.proxy.port, {
        path: '/v1/chat/completions',
        body: json(CHAT, { model: MESSAGE.model }),
      });
      assert.is(status, 502);
    });
  }));

test.after(closeClients);
test.run();
