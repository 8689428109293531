import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../../engine/index.ts';
import type { Clock } from '../../../engine/index.ts';
import { dialects } from '../../dialect/registry.ts';
import { ResponseBody } from '../../providers/response-body.ts';
import { readWhole } from '../../providers/upstream.ts';
import { EventCursor } from '../../wire/events.ts';
import { ErrorEvent, MAX_HELD_BYTES, hold } from './hold.ts';
import type { Held } from './hold.ts';
import { holdsErrorEvent } from './watched-body.ts';

const START = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n';
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const BLOCK =
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
const TEXT =
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n';
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const FAILED =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';

/** Returns a body that a test writes piece by piece. */
function bodyOf(...pieces: readonly string[]): ResponseBody {
  const flow = { pause: () => undefined, resume: () => undefined, cancel: () => undefined };
  const body = new ResponseBody(flow, { later: (work) => queueMicrotask(work) });
  for (const piece of pieces) body.push(Buffer.from(piece));
  return body;
}

function holding(body: ResponseBody, clock: Clock): Promise<Held> {
  const dialect = dialects.messages;
  return hold({ body, encoding: undefined, dialect, clock });
}

const frozenClock = createManualClock();

/**
 * Returns the outcome for `pieces`, sent one at a time until the response is released or the body
 * ends.
 */
async function heldOf(...pieces: string[]): Promise<{ held: Held; text: string }> {
  const body = bodyOf();
  let held: Held | undefined;
  const done = holding(body, frozenClock).then((value) => (held = value));
  for (const piece of pieces) {
    if (held !== undefined) break;
    body.push(Buffer.from(piece));
    await turn();
  }
  body.end();
  return { held: await done, text: (await readWhole(body, Infinity))?.toString() ?? '' };
}

test('a stream is held until the first content, and then released in order', async () => {
  const { held, text } = await heldOf(START, PING, BLOCK, PING, TEXT, STOP);
  assert.is('released' in held && held.released, 'content');
  assert.is(text, START + PING + BLOCK + PING + TEXT);
});

test('content is found wherever the pieces are cut', async () => {
  const all = START + BLOCK + TEXT;
  for (let at = 1; at < all.length; at += 1) {
    const { held, text } = await heldOf(all.slice(0, at), all.slice(at));
    assert.is('released' in held && held.released, 'content', `cut at ${at}`);
    assert.is(text, all);
  }
});

test('an error event before content fails, wherever the pieces are cut', async () => {
  const all = START + FAILED;
  for (let at = 1; at < all.length; at += 1) {
    const { held } = await heldOf(all.slice(0, at), all.slice(at));
    assert.ok('failed' in held && held.failed instanceof ErrorEvent, `cut at ${at}`);
  }
});

test('a stream that ends without content fails, but a complete empty answer does not', async () => {
  const { held: broken } = await heldOf(START, PING);
  assert.ok('failed' in broken);
  const { held: empty } = await heldOf(START, STOP);
  assert.is('released' in empty && empty.released, 'end');
});

test('a body that breaks off fails with its own error', async () => {
  const body = bodyOf(START);
  const error = new Error('reset');
  body.fail(error);
  const held = await holding(body, frozenClock);
  assert.is('failed' in held && held.failed, error);
});

test('after ten seconds the client gets what has arrived, and the rest as it arrives', async () => {
  const clock = createManualClock();
  const body = bodyOf(START);
  let held: Held | undefined;
  void holding(body, clock).then((value) => (held = value));
  await turn();
  clock.advance(9_999);
  await turn();
  assert.is(held, undefined);
  clock.advance(1);
  await turn();
  if (held === undefined || 'failed' in held) return assert.unreachable();
  assert.is(held.released, 'time');
  const reader = body.bytes().getReader();
  assert.is((await reader.read()).value?.toString(), START);
  const next = reader.read();
  body.push(Buffer.from(TEXT));
  body.end();
  assert.is((await next).value?.toString(), TEXT);
  assert.ok((await reader.read()).done);
});

test('no more than 64 KiB are held back', async () => {
  const pings = PING.repeat(Math.ceil(MAX_HELD_BYTES / PING.length / 2));
  const { held, text } = await heldOf(START, pings, pings, TEXT);
  assert.is('released' in held && held.released, 'size');
  assert.is(text, START + pings + pings);
});

test('an error event is found however it is split, and text about errors is ignored', () => {
  const events = [
    FAILED,
    'data: {"error":{"message":"Overloaded"}}\n\n',
    'data: {"error": {"message":"Overloaded"}}\r\n\r\n',
    'event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n',
    'event: error\r\ndata: {}\r\n\r\n',
  ];
  const isFound = (...pieces: readonly Buffer[]): boolean => {
    const cursor = new EventCursor();
    return pieces.flatMap((piece) => cursor.push(piece)).some((run) => holdsErrorEvent(run.bytes));
  };
  for (const event of events) {
    const all = Buffer.from(TEXT.repeat(5) + event);
    for (let at = 0; at <= all.length; at += 1) {
      const seen = isFound(all.subarray(0, at), all.subarray(at));
      assert.ok(seen, `${JSON.stringify(event)} cut at ${at}`);
    }
    assert.ok(isFound(...[...all].map((byte) => Buffer.from([byte]))));
  }
  const texts = JSON.stringify({
    type: 'text_delta',
    text: 'event: error\ndata: {"error":{}}\n\n',
  });
  for (const text of [`data: ${texts}\n\n`, 'data: {"error":null,"choices":[]}\n\n', TEXT]) {
    assert.not.ok(isFound(Buffer.from(text)), text);
  }
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test.run();
