import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { createDecoder, decodeBody } from './decode.ts';
import { createUnzstd } from './zstd.ts';

/**
 * `{"model":"m","input":"hello zstd 😀 hello …"}`, compressed by a command-line encoder at level
 * 19.
 */
const PACKED = Buffer.from(
  'KLUv/QRojQEAhAJ7Im1vZGVsIjoibSIsImlucHV0IjoiaGVsbG8genN0ZCDwn5iAICJ9AQBuGXU+AeUDyhw=',
  'base64',
);
const PLAIN = `{"model":"m","input":"${'hello zstd 😀 '.repeat(20)}"}`;

/**
 * Returns a frame of `blocks` times 128 KiB of zeros, four bytes each, with the given window
 * descriptor.
 */
function bomb(blocks: number, windowDescriptor = 0x58): Buffer {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, windowDescriptor]);
  const body = Array.from({ length: blocks }, (_, n) => {
    const header = (n === blocks - 1 ? 1 : 0) | (1 << 1) | (131_072 << 3);
    return Buffer.from([header & 0xff, (header >> 8) & 0xff, header >> 16, 0]);
  });
  return Buffer.concat([head, ...body]);
}

async function unpack(parts: readonly Buffer[], maxBytes?: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const stream = createUnzstd(maxBytes);
  for (const part of parts) stream.write(part);
  stream.end();
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isSvcError(error) ? error.kind : 'error';
  }
}

test('a zstd body is decoded on every runtime', async () => {
  assert.is((await decodeBody(PACKED, 'zstd', 10_000)).toString(), PLAIN);
  assert.is((await unpack([PACKED], 10_000)).toString(), PLAIN);
});

test('a decompression bomb is stopped at the limit, and a window of gigabytes is refused at once', async () => {
  const bytes = bomb(4096);
  assert.ok(bytes.length < 20_000);
  const beforeBytes = process.memoryUsage().rss;
  assert.is(await codeOf(unpack([bytes], 1_000_000)), 'payload_too_large');
  assert.is(await codeOf(decodeBody(bytes, 'zstd', 1_000_000)), 'payload_too_large');
  assert.is(await codeOf(unpack([bomb(1, 0xf8)], 1_000_000)), 'payload_too_large');
  assert.ok(process.memoryUsage().rss - beforeBytes < 64 * 1024 * 1024);
});

test('corrupt and truncated bytes give an error and never hang', async () => {
  const broken = Buffer.from(PACKED);
  broken[20] = 0xff;
  broken[9] = 0xff;
  for (const bytes of [broken, PACKED.subarray(0, -3), Buffer.alloc(0), Buffer.from('not zstd')])
    assert.is(await codeOf(unpack([bytes], 1_000_000)), 'error', String(bytes.length));
  assert.is(await codeOf(decodeBody(Buffer.from('not zstd at all'), 'zstd', 1000)), 'bad_request');
});

test('a copy of an answer is decoded at every split, and invalid bytes give no error', async () => {
  for (let cut = 8; cut < PACKED.length; cut += 1) {
    const copy = await unpack([PACKED.subarray(0, cut), PACKED.subarray(cut)]);
    assert.is(copy.toString(), PLAIN, `cut at ${cut}`);
  }
  assert.is(await codeOf(unpack([bomb(4096)])), 'error');
  const decoder = createDecoder('zstd', () => undefined);
  decoder.push(Buffer.from('this is plain text'));
  assert.is(await decoder.end(), false);
});

test.run();
