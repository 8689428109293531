import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createNeedleScanner } from './needle.ts';

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

const STREAM = Buffer.from(
  'data: {"a_tokens":1}\n\ndata: {"text":"tokens"}\r\n\r\nevent: x\rdata: {"promptTokenCount":2,"x_tokens":3}\r\rdata: é_tokens"\r\ndata: _tokens"\r\n\r\n\n: TokenCount',
);
const EVENTS = [
  'data: {"a_tokens":1}',
  'event: x\rdata: {"promptTokenCount":2,"x_tokens":3}',
  'data: é_tokens"\r\ndata: _tokens"',
  ': TokenCount',
];

test('events that hold a needle come once each, at every split', () => {
  assert.equal(scan([STREAM]), EVENTS);
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    assert.equal(scan([STREAM.subarray(0, cut), STREAM.subarray(cut)]), EVENTS, `cut at ${cut}`);
  }
  assert.equal(scan([...STREAM].map((byte) => Buffer.from([byte]))), EVENTS, 'byte by byte');
});

test('the unfinished event may be asked for again and goes on growing', () => {
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

test('an event that outgrows the limit is passed over, and the next one is found', () => {
  const long = [
    Buffer.from('x _tokens" '),
    Buffer.alloc(30, 'y'),
    Buffer.from('\n\ny _tokens"\n\n'),
  ];
  assert.equal(scan(long, 20), ['y _tokens"']);
  assert.equal(scan(long, 60).length, 2);
});

test.run();
