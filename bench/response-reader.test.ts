import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ResponseReader } from './response-reader.ts';
import type { WireResponse } from './response-reader.ts';

const SIZED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const EMPTY = 'HTTP/1.1 429 Too Many\r\ncontent-length: 0\r\nX: y\r\n\r\n';
const CHUNKED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
  `4\r\nab\r\n\r\n1A\r\n${'z'.repeat(26)}\r\n0\r\n\r\n`;

function readAll(parts: readonly Buffer[]): { answers: WireResponse[]; firsts: number } {
  const answers: WireResponse[] = [];
  let firsts = 0;
  const reader = new ResponseReader({
    onFirst: () => void (firsts += 1),
    onEnd: (answer) => void answers.push(answer),
  });
  for (const part of parts) reader.read(part);
  return { answers, firsts };
}

test('reads responses of each framing in sequence, split at every byte', () => {
  const wire = Buffer.from(SIZED + EMPTY + CHUNKED + SIZED);
  const expected = {
    answers: [
      { status: 200, bodyBytes: 5 },
      { status: 429, bodyBytes: 0 },
      { status: 200, bodyBytes: 30 },
      { status: 200, bodyBytes: 5 },
    ],
    firsts: 3,
  };
  assert.equal(readAll([wire]), expected);
  for (let at = 1; at < wire.length; at += 1)
    assert.equal(readAll([wire.subarray(0, at), wire.subarray(at)]), expected, `cut at ${at}`);
  assert.equal(readAll([...wire].map((byte) => Buffer.of(byte))), expected);
});

test('an unfinished body is not a response', () => {
  assert.is(readAll([Buffer.from(CHUNKED.slice(0, -1))]).answers.length, 0);
  assert.is(readAll([Buffer.from(SIZED.slice(0, -1))]).answers.length, 0);
});

test('broken framing is an error, not a short body', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  assert.throws(() => readAll([Buffer.from(`${head}4\r\nabcdX`)]), /between chunks/);
  assert.throws(() => readAll([Buffer.from(`${head}g\r\n`)]), /chunk's size/);
  assert.throws(() => readAll([Buffer.from('HTTP/1.1 200 OK\r\n\r\n')]), /without framing/);
});

test.run();
