import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Bell, Source, createManualClock } from '../../engine/index.ts';
import { dialects } from '../dialect/registry.ts';
import { EventCursor } from '../wire/events.ts';
import { ErrorEvent, HOLD_LIMITS, hold } from './hold.ts';
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

/** A body that a test writes piece by piece. */
class Written extends Source<Buffer> {
  readonly #steps: (() => Buffer | undefined)[] = [];
  readonly #bell = new Bell();

  poll(): Buffer | null | undefined {
    const step = this.#steps.shift();
    return step === undefined ? null : step();
  }

  wait(): Promise<void> {
    return this.#bell.wait();
  }

  cancel(): void {
    this.#steps.length = 0;
  }

  write(text: string): void {
    this.#give(() => Buffer.from(text));
  }

  end(): void {
    this.#give(() => undefined);
  }

  fail(error: Error): void {
    this.#give(() => {
      throw error;
    });
  }

  #give(step: () => Buffer | undefined): void {
    this.#steps.push(step);
    this.#bell.ring();
  }
}

const clockless = createManualClock();

async function heldOf(...pieces: string[]): Promise<Held> {
  const written = new Written();
  for (const piece of pieces) written.write(piece);
  written.end();
  return hold(written, dialects.messages, clockless, HOLD_LIMITS);
}

function textOf(held: Held): string {
  return 'failed' in held ? '' : Buffer.concat(held.pieces).toString();
}

test('what only announces is held until the first content, in one order', async () => {
  const held = await heldOf(START, PING, BLOCK, PING, TEXT, STOP);
  assert.is('released' in held && held.released, 'content');
  assert.is(textOf(held), START + PING + BLOCK + PING + TEXT);
});

test('content is found wherever the pieces are cut', async () => {
  const all = START + BLOCK + TEXT;
  for (let at = 1; at < all.length; at += 1) {
    const held = await heldOf(all.slice(0, at), all.slice(at));
    assert.is('released' in held && held.released, 'content', `cut at ${at}`);
    assert.is(textOf(held), all);
  }
});

test('an error event before content fails, wherever the pieces are cut', async () => {
  const all = START + FAILED;
  for (let at = 1; at < all.length; at += 1) {
    const held = await heldOf(all.slice(0, at), all.slice(at));
    assert.ok('failed' in held && held.failed instanceof ErrorEvent, `cut at ${at}`);
  }
});

test('a stream that ends before it says anything fails; a complete empty one does not', async () => {
  const broken = await heldOf(START, PING);
  assert.ok('failed' in broken);
  const empty = await heldOf(START, STOP);
  assert.is('released' in empty && empty.released, 'end');
});

test('a body that breaks off fails with its own error', async () => {
  const written = new Written();
  const error = new Error('reset');
  written.write(START);
  written.fail(error);
  const held = await hold(written, dialects.messages, clockless, HOLD_LIMITS);
  assert.is('failed' in held && held.failed, error);
});

test('after ten seconds the client gets what there is, and the rest as it comes', async () => {
  const clock = createManualClock();
  const written = new Written();
  written.write(START);
  let held: Held | undefined;
  void hold(written, dialects.messages, clock, HOLD_LIMITS).then((value) => (held = value));
  await turn();
  clock.advance(9_999);
  await turn();
  assert.is(held, undefined);
  clock.advance(1);
  await turn();
  if (held === undefined || 'failed' in held) return assert.unreachable();
  assert.is(held.released, 'time');
  assert.is(textOf(held), START);
  const next = written.read();
  written.write(TEXT);
  written.end();
  assert.is((await next)?.toString(), TEXT);
  assert.is(await written.read(), undefined);
});

test('no more than 64 KiB are held', async () => {
  const pings = PING.repeat(Math.ceil(HOLD_LIMITS.bytes / PING.length / 2));
  const held = await heldOf(START, pings, pings, TEXT);
  assert.is('released' in held && held.released, 'size');
  assert.is(textOf(held), START + pings + pings);
});

test('an error event is noticed in any split, and text about errors is not', () => {
  const events = [
    FAILED,
    'data: {"error":{"message":"Overloaded"}}\n\n',
    'data: {"error": {"message":"Overloaded"}}\r\n\r\n',
    'event: response.failed\ndata: {"type":"response.failed","response":{}}\n\n',
    'event: error\r\ndata: {}\r\n\r\n',
  ];
  const isNoticed = (...pieces: readonly Buffer[]): boolean => {
    const cursor = new EventCursor();
    return pieces.flatMap((piece) => cursor.push(piece)).some((run) => holdsErrorEvent(run.bytes));
  };
  for (const event of events) {
    const all = Buffer.from(TEXT.repeat(5) + event);
    for (let at = 0; at <= all.length; at += 1) {
      const seen = isNoticed(all.subarray(0, at), all.subarray(at));
      assert.ok(seen, `${JSON.stringify(event)} cut at ${at}`);
    }
    assert.ok(isNoticed(...[...all].map((byte) => Buffer.from([byte]))));
  }
  const texts = JSON.stringify({
    type: 'text_delta',
    text: 'event: error\ndata: {"error":{}}\n\n',
  });
  for (const text of [`data: ${texts}\n\n`, 'data: {"error":null,"choices":[]}\n\n', TEXT]) {
    assert.not.ok(isNoticed(Buffer.from(text)), text);
  }
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test.run();
