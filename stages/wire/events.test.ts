import { array, assert as runProperty, constantFrom, integer, nat, property } from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { loadWireResponses } from '../../fixtures/wire.ts';
import type { ChunkEvent } from '../model/frame.ts';
import {
  EventCursor,
  createEventReader,
  createNeedleScanner,
  createSplitter,
  dataOf,
  encodeEvent,
} from './events.ts';
import { endsEvent } from './event-ends.ts';

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

test('the pieces add up to the input, and each has its event and data', () => {
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

test('the pieces are the same for every split of the bytes', () => {
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

test('any bytes are passed on unchanged at any split and limit', () => {
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

test('an event beyond the limit is passed on in unparsed pieces, and the next one is whole again', () => {
  const input = Buffer.from(`data: ${'x'.repeat(50)}\n\ndata: ok\n\n`);
  const pieces = splitAt(input, [], 20);
  assert.equal(
    pieces.map((piece) => piece.data),
    [undefined, undefined, undefined, 'ok'],
  );
  assert.is(pieces[0]!.bytes.length, 20);
});

test('an event is emitted as soon as its last byte arrives', () => {
  for (const text of ['data: a\n\n', 'data: a\r\n\r\n', 'data: a\r\r']) {
    assert.is(createSplitter().push(Buffer.from(text)).length, 1, JSON.stringify(text));
  }
});

test('encoded events are read back, including line ends in their data', () => {
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

const recorded = loadWireResponses().filter((wire) => wire.streaming);

function runsOf(cursor: EventCursor, bytes: Buffer): Buffer[] {
  return cursor.push(bytes).map((run) => run.bytes);
}

test('every recorded stream, cut at every byte, keeps its bytes and gives only whole events', () => {
  for (const { bytes, file } of recorded) {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const cursor = new EventCursor();
      const out = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((part) =>
        runsOf(cursor, part),
      );
      for (const piece of out) assert.ok(endsEvent(piece), `${file} cut at ${cut}`);
      out.push(cursor.rest()?.bytes ?? Buffer.alloc(0));
      assert.ok(Buffer.concat(out).equals(bytes), `${file} cut at ${cut}`);
    }
  }
});

test('the cursor emits an event with its last byte, for every kind of line end', () => {
  for (const eol of ['\n', '\r\n', '\r']) {
    const event = Buffer.from(`event: a${eol}data: {"x":1}${eol}${eol}`);
    const cursor = new EventCursor();
    for (let i = 0; i < event.length - 1; i += 1) {
      assert.equal(runsOf(cursor, event.subarray(i, i + 1)), [], JSON.stringify(eol));
    }
    const [run] = runsOf(cursor, event.subarray(-1));
    assert.ok(run?.equals(event), JSON.stringify(eol));
    assert.is(cursor.rest(), undefined);
  }
});

test('a read that ends with an event is not copied', () => {
  const bytes = Buffer.from('data: a\n\ndata: b\n\n');
  assert.is(runsOf(new EventCursor(), bytes)[0], bytes);
});

test('no more than the limit is held of an oversized event', () => {
  const cursor = new EventCursor(64 * 1024);
  const piece = Buffer.alloc(50_000, 'x');
  assert.equal(runsOf(cursor, piece), []);
  const [part] = cursor.push(piece);
  assert.is(part?.bytes.length, 64 * 1024);
  assert.is(part?.isPart, true);
  const [last, ...more] = cursor.push(Buffer.from('x\n\ndata: y'));
  assert.is(last?.bytes.length, 100_000 - 64 * 1024 + 3);
  assert.is(last?.isPart, true);
  assert.equal(more, []);
  const rest = cursor.rest();
  assert.is(rest?.bytes.toString(), 'data: y');
  assert.is(rest?.isPart, false);
});

const NEEDLES = [Buffer.from('_tokens"'), Buffer.from('TokenCount')];

function scan(parts: readonly Buffer[], maxEventBytes?: number): string[] {
  const scanner = createNeedleScanner(
    NEEDLES,
    maxEventBytes === undefined ? {} : { maxEventBytes },
  );
  const events: string[] = [];
  for (const part of parts)
    scanner.push(part, (event) => void events.push(event.toString().trim()));
  const rest = scanner.rest();
  if (rest !== undefined) events.push(rest.toString().trim());
  return events;
}

const METERED = Buffer.from(
  'data: {"a_tokens":1}\n\ndata: {"text":"tokens"}\r\n\r\nevent: x\rdata: {"promptTokenCount":2,"x_tokens":3}\r\rdata: é_tokens"\r\ndata: _tokens"\r\n\r\n\n: TokenCount',
);
const EVENTS = [
  'data: {"a_tokens":1}',
  'event: x\rdata: {"promptTokenCount":2,"x_tokens":3}',
  'data: é_tokens"\r\ndata: _tokens"',
  ': TokenCount',
];

test('events that contain a needle are found once each, at every split', () => {
  assert.equal(scan([METERED]), EVENTS);
  for (let cut = 0; cut <= METERED.length; cut += 1) {
    assert.equal(scan([METERED.subarray(0, cut), METERED.subarray(cut)]), EVENTS, `cut at ${cut}`);
  }
  assert.equal(scan([...METERED].map((byte) => Buffer.from([byte]))), EVENTS, 'byte by byte');
});

test('the data cut out of an event is what the parser reads', () => {
  const line = constantFrom(
    'data: {"a":1}',
    'data:b',
    'data: ',
    'event: x',
    'id: 7',
    ': data: c',
    'é: ',
    'database: d',
  );
  runProperty(
    property(
      array(line, { minLength: 1, maxLength: 6 }),
      constantFrom('\n', '\r\n', '\r'),
      (lines, end) => {
        const bytes = Buffer.from(`${lines.join(end)}${end}${end}`);
        const [piece] = createSplitter().push(bytes);
        // For JSON, the space after a colon and the end of the last line mean nothing.
        const cut = dataOf(bytes).toString().replace(/\n$/, '').replaceAll(/^ /gm, '');
        assert.is(cut, piece?.data ?? '');
      },
    ),
    { numRuns: 2000 },
  );
});

test('the unfinished event can be read repeatedly while it grows', () => {
  const scanner = createNeedleScanner(NEEDLES);
  const events: string[] = [];
  scanner.push(Buffer.from('a _tok'), (event) => void events.push(event.toString().trim()));
  assert.is(scanner.rest(), undefined);
  scanner.push(Buffer.from('ens" b'), (event) => void events.push(event.toString().trim()));
  assert.is(scanner.rest()?.toString(), 'a _tokens" b');
  scanner.push(Buffer.from('c\n\n'), (event) => void events.push(event.toString().trim()));
  assert.equal(events, ['a _tokens" bc']);
  assert.is(scanner.rest(), undefined);
});

test('an event that exceeds the limit is skipped, and the next one is found', () => {
  const long = [
    Buffer.from('x _tokens" '),
    Buffer.alloc(30, 'y'),
    Buffer.from('\n\ny _tokens"\n\n'),
  ];
  assert.equal(scan(long, 20), ['y _tokens"']);
  assert.equal(scan(long, 60).length, 2);
});

const long = 'x'.repeat(3 * 1024 * 1024);

test('a long event is read whole at any split', () => {
  const reader = createEventReader();
  const bytes = Buffer.from(`: hello\n\ndata: ${long}\n\ndata: b`);
  const parts = [bytes.subarray(0, 2_000_000), bytes.subarray(2_000_000)].flatMap((part) =>
    reader.push(part),
  );
  assert.equal(
    [...parts, reader.rest()].map((piece) => piece?.data?.length),
    [undefined, long.length, 1],
  );
});

test('an event beyond the limit is an error and is not skipped', () => {
  const reader = createEventReader(1024 * 1024);
  const fails = (work: () => unknown): void =>
    assert.throws(work, (error: unknown) => isSvcError(error) && error.kind === 'bad_gateway');
  fails(() => reader.push(Buffer.from(`data: ${long}`)));
});

test.run();
