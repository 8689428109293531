/**
 * Two connections joined into one: bytes in order, a bounded buffer when one side stalls, and
 * buffers given back.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, systemClock } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { createBufferRelease } from './free-buffer.ts';
import { splice } from './splice.ts';

const MB = 1024 * 1024;

/** Runs `use` with two loopback connections spliced in the middle, then closes them all. */
async function withSplice(
  use: (near: Socket, far: Socket, middle: readonly [Socket, Socket]) => Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pair = async (): Promise<[Socket, Socket]> => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const outer = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(outer, 'connect');
    return [outer, (await accepted)[0]];
  };
  const [near, nearMiddle] = await pair();
  const [far, farMiddle] = await pair();
  const done = splice(nearMiddle, farMiddle, clock);
  try {
    await use(near, far, [nearMiddle, farMiddle]);
  } finally {
    near.destroy();
    far.destroy();
    await done;
    server.close();
  }
}

/** Returns bytes that show their position: consecutive 32-bit integers. */
function sequence(bytes: number): Buffer {
  const all = new Uint32Array(bytes / 4).map((_, index) => index);
  return Buffer.from(all.buffer);
}

async function received(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.resume();
  await once(socket, 'end');
  return Buffer.concat(pieces);
}

test('both directions carry all bytes in order, and one stays open after the other has ended', () =>
  withSplice(async (near, far) => {
    const up = sequence(24 * MB);
    const down = sequence(20 * MB).subarray(4 * MB);
    near.end(up);
    const arrived = received(far);
    const came = received(near);
    assert.ok((await arrived).equals(up));
    // `near` has already ended its side.
    far.end(down);
    assert.ok((await came).equals(down));
  }));

test('small writes between large ones are not delayed', () =>
  withSplice(async (near, far) => {
    far.on('data', (bytes: Buffer) => far.write(bytes));
    let echoed = 0;
    near.on('data', ({ length }: Buffer) => {
      echoed += length;
      near.emit('echoed');
    });
    let sent = 0;
    for (let n = 0; n < 200; n += 1) {
      const piece = Buffer.alloc(n % 3 === 0 ? 200_000 : 1 + n, 'x');
      sent += piece.length;
      near.write(piece);
      while (echoed < sent) await once(near, 'echoed');
    }
    assert.is(echoed, sent);
  }));

test('a side that does not read pauses the other, and loses nothing', () =>
  withSplice(async (near, far, [, farMiddle]) => {
    const all = sequence(64 * MB);
    far.pause();
    near.end(all);
    // Everything in transit is in kernel buffers, except for one piece here.
    while (farMiddle.writableLength === 0) await new Promise(setImmediate);
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    assert.ok(farMiddle.writableLength <= 64 * 1024, `${farMiddle.writableLength} bytes are held`);
    assert.ok((await received(far)).equals(all));
  }));

test('the memory of forwarded bytes is freed at once', () =>
  withSplice(async (near, far, [nearMiddle]) => {
    const pieces: Buffer[] = [];
    const large: number[] = [];
    nearMiddle.on('data', (bytes: Buffer) => {
      pieces.push(bytes);
      large.push(bytes.length);
    });
    const arrived = received(far);
    near.end(sequence(8 * MB));
    assert.is((await arrived).length, 8 * MB);
    const held = pieces.filter(({ length }) => length >= 16 * 1024);
    assert.equal(held.length, 0, 'large buffers are released');
    assert.ok(large.some((length) => length >= 16 * 1024));
  }));

test('after one side has ended, the other is closed only by silence', () => {
  const clock = createManualClock();
  return withSplice(async (near, far, [nearMiddle]) => {
    near.end('question');
    far.resume();
    await once(far, 'end');
    let text = '';
    near.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    for (let n = 0; n < 8; n += 1) {
      clock.advance(45_000);
      far.write(String(n));
      while (text.length <= n) await Promise.race([once(near, 'data'), once(near, 'close')]);
      assert.not.ok(near.destroyed || nearMiddle.destroyed, `after ${text.length} pieces`);
    }
    assert.is(text, '01234567');
    clock.advance(61_000);
    assert.ok(nearMiddle.destroyed, 'a silent one is closed');
  }, clock);
});

test('while both sides are open, a pause of minutes is allowed and one of half an hour is not', () => {
  const clock = createManualClock();
  return withSplice(async (near, far, [nearMiddle]) => {
    for (let n = 0; n < 3; n += 1) {
      clock.advance(29 * 60_000);
      near.write('ping');
      await once(far, 'data');
    }
    assert.not.ok(nearMiddle.destroyed);
    clock.advance(31 * 60_000);
    assert.ok(nearMiddle.destroyed);
  }, clock);
});

test('the splice never frees memory that is used elsewhere', () => {
  const releaseBuffer = createBufferRelease();
  const whole = Buffer.from(new ArrayBuffer(64 * 1024));
  const half = Buffer.from(new ArrayBuffer(64 * 1024), 0, 32 * 1024);
  const rest = Buffer.from(new ArrayBuffer(64 * 1024), 16 * 1024);
  const small = Buffer.from(new ArrayBuffer(1024));
  const shared = Buffer.from(new SharedArrayBuffer(64 * 1024));
  for (const bytes of [whole, half, rest, small, shared]) releaseBuffer(bytes);
  assert.equal(
    [whole, half, rest, small, shared].map(({ length }) => length),
    [0, 32 * 1024, 48 * 1024, 1024, 64 * 1024],
  );
  // Giving the same buffer back twice does no harm.
  releaseBuffer(whole);
});

test.run();
