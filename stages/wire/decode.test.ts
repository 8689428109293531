import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as zlib from 'node:zlib';
import { isSvcError } from '../../engine/index.ts';
import { createDecoder, decodeBody } from './decode.ts';

const TEXT = Buffer.from(JSON.stringify({ text: 'héllo '.repeat(2000) }));
const ENCODED: readonly (readonly [string, Buffer])[] = [
  ['gzip', zlib.gzipSync(TEXT)],
  ['X-GZIP', zlib.gzipSync(TEXT)],
  ['deflate', zlib.deflateSync(TEXT)],
  ['deflate', zlib.deflateRawSync(TEXT)],
  ['br', zlib.brotliCompressSync(TEXT)],
  ['identity, gzip', zlib.gzipSync(TEXT)],
];

async function kindOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isSvcError(error) ? error.kind : 'not an SvcError';
  }
}

test('every encoding is decoded, and an unencoded body is returned as the same buffer', async () => {
  for (const [encoding, bytes] of ENCODED) {
    assert.ok((await decodeBody(bytes, encoding, TEXT.length)).equals(TEXT), encoding);
  }
  for (const none of [undefined, '', 'identity']) {
    assert.is(await decodeBody(TEXT, none, TEXT.length), TEXT);
  }
});

test('the decoded size is limited while decoding', async () => {
  const bomb = zlib.gzipSync(Buffer.alloc(20_000_000));
  assert.is(await kindOf(decodeBody(bomb, 'gzip', 1_000_000)), 'payload_too_large');
  assert.is(await kindOf(decodeBody(TEXT, undefined, TEXT.length - 1)), 'payload_too_large');
  for (const [encoding, bytes] of ENCODED) {
    assert.is(await kindOf(decodeBody(bytes, encoding, TEXT.length - 1)), 'payload_too_large');
  }
});

test('corrupt bytes are the client’s fault, and unknown or stacked encodings are refused', async () => {
  const gzip = zlib.gzipSync(TEXT);
  assert.is(await kindOf(decodeBody(Buffer.from('not gzip'), 'gzip', 1e6)), 'bad_request');
  assert.is(await kindOf(decodeBody(gzip.subarray(0, 40), 'gzip', 1e6)), 'bad_request');
  assert.is(await kindOf(decodeBody(Buffer.alloc(0), 'br', 1e6)), 'bad_request');
  for (const encoding of ['compress', 'gzip, gzip', 'gzip, br', '\u0000']) {
    assert.is(await kindOf(decodeBody(gzip, encoding, 1e6)), 'unsupported_media_type', encoding);
  }
});

async function copy(
  encoding: string | undefined,
  parts: readonly Buffer[],
): Promise<{ whole: boolean; bytes: Buffer }> {
  const seen: Buffer[] = [];
  const decoder = createDecoder(encoding, (bytes) => void seen.push(bytes));
  for (const part of parts) decoder.push(part);
  return { whole: await decoder.end(), bytes: Buffer.concat(seen) };
}

test('a copy is decoded at any split, and delivered before end resolves', async () => {
  for (const [encoding, bytes] of ENCODED) {
    const parts = [...bytes].map((byte) => Buffer.from([byte]));
    const result = await copy(encoding, parts);
    assert.ok(result.whole, encoding);
    assert.ok(result.bytes.equals(TEXT), encoding);
  }
  assert.ok((await copy(undefined, [TEXT])).bytes.equals(TEXT));
});

test('a truncated copy gives the part that arrived, and an undecodable one gives false', async () => {
  const gzip = zlib.gzipSync(Buffer.from(TEXT.toString() + 'end'.repeat(5000)));
  const cut = await copy('gzip', [gzip.subarray(0, gzip.length - 12)]);
  assert.ok(cut.bytes.length > 1000);
  assert.not((await copy('gzip', [Buffer.from('garbage'), Buffer.from('more')])).whole);
  assert.not((await copy('gzip, br', [gzip])).whole);
  assert.not((await copy('unknown', [gzip])).whole);
  assert.ok((await copy('gzip', [])).whole);
});

test('trailing bytes after the encoded data neither throw nor delay the end', async () => {
  const garbage = Buffer.from('trailing garbage');
  for (const [encoding, bytes] of ENCODED) {
    const seen: Buffer[] = [];
    const decoder = createDecoder(encoding, (part) => void seen.push(part));
    decoder.push(bytes);
    await new Promise((resolve) => setTimeout(resolve, 5));
    decoder.push(garbage);
    await new Promise((resolve) => setTimeout(resolve, 5));
    decoder.push(garbage);
    await decoder.end();
    await decoder.end();
    assert.ok(Buffer.concat(seen).equals(TEXT), encoding);
  }
});

test('a copy that falls too far behind is abandoned without an error', async () => {
  const decoder = createDecoder('gzip', () => undefined);
  const bytes = zlib.gzipSync(Buffer.alloc(9_000_000, 7), { level: 0 });
  for (let start = 0; start < bytes.length; start += 65_536) {
    decoder.push(bytes.subarray(start, start + 65_536));
  }
  decoder.push(Buffer.alloc(10));
  assert.not(await decoder.end());
});

const GB = 2 ** 30;

/** Returns `sizeBytes` of a single letter, encoded. */
async function bombOf(encoder: zlib.BrotliCompress | zlib.Gzip, sizeBytes: number) {
  const block = Buffer.alloc(2 ** 20, 'a');
  const pieces: Buffer[] = [];
  encoder.on('data', (piece: Buffer) => void pieces.push(piece));
  for (let at = 0; at < sizeBytes; at += block.length) {
    if (!encoder.write(block)) await once(encoder, 'drain');
  }
  encoder.end();
  await once(encoder, 'end');
  return Buffer.concat(pieces);
}

test('an answer that expands to gigabytes is abandoned at once, in one piece or many', async () => {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = zlib.constants;
  const brotli = zlib.createBrotliCompress({ params: { [quality]: 2, [window]: 24 } });
  const bombs = [
    ['br', await bombOf(brotli, GB)],
    ['gzip', await bombOf(zlib.createGzip({ level: 1 }), GB / 4)],
  ] as const;
  for (const [encoding, bomb] of bombs) {
    for (const pieceBytes of [bomb.length, Math.ceil(bomb.length / 50)]) {
      let decodedBytes = 0;
      const decoder = createDecoder(encoding, (bytes) => void (decodedBytes += bytes.length));
      for (let at = 0; at < bomb.length; at += pieceBytes) {
        decoder.push(bomb.subarray(at, at + pieceBytes));
        await new Promise(setImmediate);
      }
      assert.is(await decoder.end(), false, encoding);
      const maxBytes = Math.max(8 * 2 ** 20, bomb.length * 200);
      assert.ok(decodedBytes <= maxBytes, `${encoding}: ${decodedBytes} of ${bomb.length}`);
    }
  }
});

test('a repetitive answer of some megabytes is read whole', async () => {
  const text = Buffer.alloc(8 * 2 ** 20, 'data: {"a":1}\n\n');
  let decodedBytes = 0;
  const decoder = createDecoder('br', (bytes) => void (decodedBytes += bytes.length));
  decoder.push(zlib.brotliCompressSync(text));
  assert.is(await decoder.end(), true);
  assert.is(decodedBytes, text.length);
});

test.run();
