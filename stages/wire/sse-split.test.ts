import { array, assert as runProperty, constantFrom, integer, nat, property } from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChunkEvent } from '../model/frame.ts';
import { encodeEvent } from './sse-encode.ts';
import { createSplitter } from './sse-split.ts';

interface Seen {
  readonly event: string | undefined;
  readonly data: string | undefined;
  readonly bytes: string;
}

function toSeen({ event, data, bytes }: ChunkEvent): Seen {
  return { event, data, bytes: bytes.toString('latin1') };
}

function splitAt(input: Buffer, cuts: readonly number[], maxEventBytes?: number): Seen[] {
  const splitter = createSplitter(maxEventBytes === undefined ? {} : { maxEventBytes });
  const seen: Seen[] = [];
  let start = 0;
  for (const cut of [...cuts, input.length]) {
    seen.push(...splitter.push(input.subarray(start, cut)).map(toSeen));
    start = cut;
  }
  const rest = splitter.rest();
  if (rest !== undefined) seen.push(toSeen(rest));
  return seen;
}

const STREAMS: Readonly<Record<string, string>> = {
  lf: 'event: a\ndata: {"x":1}\n\ndata: two\n\n',
  crlf: 'event: a\r\ndata: {"x":1}\r\n\r\ndata: two\r\n\r\n',
  cr: 'event: a\rdata: {"x":1}\r\rdata: two\r\r',
  'mixed line ends': 'data: a\n\r\ndata: b\r\n\ndata: c\r\r\ndata: d\n\r\rdata: e\n\n',
  'comments and pings': ': keepalive\n\nevent: ping\ndata: {}\n\n:\n\n',
  'several data lines': 'data: one\ndata: two\ndata:three\n\n',
  'no final blank line': 'data: a\n\ndata: [DONE]\n',
  'no final line end': 'data: a\n\ndata: [DONE]',
  'extra blank lines': '\n\ndata: a\n\n\n\ndata: b\n\n',
  'multi-byte text': 'data: {"t":"héllo 日本語 🙂"}\n\ndata: 🙂\n\n',
  'byte order mark': '\uFEFFdata: a\n\ndata: b\n\n',
  garbage: '<html>\nno events here\n\n\u0000\u0001{"json":true}\n\ndata: a\n\n',
  'other fields': 'id: 7\nretry: 100\nevent: x\ndata: y\n\nid: 8\n\n',
};

function read(name: string): (readonly [string | undefined, string | undefined])[] {
  return splitAt(Buffer.from(STREAMS[name]!), []).map((piece) => [piece.event, piece.data]);
}

test('each piece is the input again, and says what is in it', () => {
  const twoEvents = [
    ['a', '{"x":1}'],
    [undefined, 'two'],
  ];
  for (const name of ['lf', 'crlf', 'cr']) assert.equal(read(name), twoEvents, name);
  const none = [undefined, undefined];
  assert.equal(read('comments and pings'), [none, ['ping', '{}'], none]);
  assert.equal(read('several data lines'), [[undefined, 'one\ntwo\nthree']]);
  assert.equal(read('no final blank line')[1], [undefined, '[DONE]']);
  assert.equal(read('no final line end')[1], [undefined, '[DONE]']);
  assert.equal(read('byte order mark')[0], [undefined, 'a']);
  assert.equal(read('garbage'), [none, none, [undefined, 'a']]);
  assert.equal(read('other fields'), [['x', 'y'], none]);
  const mixed = read('mixed line ends').map(([, data]) => data);
  assert.equal(
    mixed.filter((data) => data !== undefined),
    ['a', 'b', 'c', 'd', 'e'],
  );
});

test('the pieces are the same however the bytes were split', () => {
  for (const [name, text] of Object.entries(STREAMS)) {
    const input = Buffer.from(text);
    const whole = splitAt(input, []);
    const joined = whole.map((piece) => piece.bytes).join('');
    assert.is(joined, input.toString('latin1'), `${name}: nothing is lost`);
    for (let cut = 0; cut <= input.length; cut += 1) {
      assert.equal(splitAt(input, [cut]), whole, `${name} cut at ${cut}`);
    }
    const everywhere = Array.from({ length: input.length }, (_, i) => i);
    assert.equal(splitAt(input, everywhere), whole, `${name} byte by byte`);
  }
});

test('any bytes come out as they went in, at any splits and any limit', () => {
  const byte = constantFrom(10, 13, 10, 13, 58, 32, 97, 100, 0xc3, 0xff);
  const bytes = array(byte, { maxLength: 60 });
  const holds = property(bytes, array(nat(60)), integer({ min: 1, max: 20 }), (list, at, limit) => {
    const input = Buffer.from(list);
    const cuts = at.filter((cut) => cut <= input.length).toSorted((a, b) => a - b);
    const whole = splitAt(input, [], limit);
    assert.is(whole.map((piece) => piece.bytes).join(''), input.toString('latin1'));
    assert.equal(splitAt(input, cuts, limit), whole);
    assert.ok(whole.every((piece) => piece.bytes.length <= limit));
  });
  runProperty(holds, { numRuns: 2000, seed: 7 });
});

test('an event beyond the limit passes in pieces that nobody reads, and the next one is whole again', () => {
  const input = Buffer.from(`data: ${'x'.repeat(50)}\n\ndata: ok\n\n`);
  const pieces = splitAt(input, [], 20);
  assert.equal(
    pieces.map((piece) => piece.data),
    [undefined, undefined, undefined, 'ok'],
  );
  assert.is(pieces[0]!.bytes.length, 20);
});

test('an event comes out as soon as its last byte is in', () => {
  for (const text of ['data: a\n\n', 'data: a\r\n\r\n', 'data: a\r\r']) {
    assert.is(createSplitter().push(Buffer.from(text)).length, 1, JSON.stringify(text));
  }
});

test('encoded events are read back, also with line ends in their data', () => {
  for (const [event, data] of [
    ['ping', '{}'],
    [undefined, 'a\r\nb\rc\nd'],
    ['x', ''],
  ] as const) {
    const [piece] = createSplitter().push(encodeEvent(event, data));
    assert.is(piece?.event, event);
    assert.is(piece?.data, data.replaceAll(/\r\n|\r/g, '\n'));
  }
});

test.run();
