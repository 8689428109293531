import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createNeedleScanner } from './needle.ts';

const NEEDLES = [Buffer.from('_tokens"'), Buffer.from('TokenCount')];

function scan(parts: readonly Buffer[], maxLineBytes?: number): string[] {
  const scanner = createNeedleScanner(NEEDLES, maxLineBytes === undefined ? {} : { maxLineBytes });
  const lines: string[] = [];
  for (const part of parts) scanner.push(part, (line) => void lines.push(line.toString()));
  const rest = scanner.rest();
  if (rest !== undefined) lines.push(rest.toString());
  return lines;
}

const STREAM = Buffer.from(
  'data: {"a_tokens":1}\n\ndata: {"text":"tokens"}\r\n\r\ndata: {"promptTokenCount":2,"x_tokens":3}\r\rdata: é_tokens" _tokens"\n: TokenCount',
);
const LINES = [
  'data: {"a_tokens":1}',
  'data: {"promptTokenCount":2,"x_tokens":3}',
  'data: é_tokens" _tokens"',
  ': TokenCount',
];

test('lines that hold a needle come once each, at every split', () => {
  assert.equal(scan([STREAM]), LINES);
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    assert.equal(scan([STREAM.subarray(0, cut), STREAM.subarray(cut)]), LINES, `cut at ${cut}`);
  }
  assert.equal(scan([...STREAM].map((byte) => Buffer.from([byte]))), LINES, 'byte by byte');
});

test('the unfinished line may be asked for again and goes on growing', () => {
  const scanner = createNeedleScanner(NEEDLES);
  const lines: string[] = [];
  scanner.push(Buffer.from('a _tok'), (line) => void lines.push(line.toString()));
  assert.is(scanner.rest(), undefined);
  scanner.push(Buffer.from('ens" b'), (line) => void lines.push(line.toString()));
  assert.is(scanner.rest()?.toString(), 'a _tokens" b');
  scanner.push(Buffer.from('c\n'), (line) => void lines.push(line.toString()));
  assert.equal(lines, ['a _tokens" bc']);
  assert.is(scanner.rest(), undefined);
});

test('a line that outgrows the limit is passed over, and the next one is found', () => {
  const long = [Buffer.from('x _tokens" '), Buffer.alloc(30, 'y'), Buffer.from('\ny _tokens"\n')];
  assert.equal(scan(long, 20), ['y _tokens"']);
  assert.equal(scan(long, 60).length, 2);
});

test.run();
