import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { createEventReader } from './every-event.ts';

const long = 'x'.repeat(3 * 1024 * 1024);

test('a long event is read whole, however it is cut', () => {
  const reader = createEventReader();
  const bytes = Buffer.from(`: hello\n\ndata: ${long}\n\ndata: b`);
  const read = [bytes.subarray(0, 2_000_000), bytes.subarray(2_000_000)].flatMap((part) =>
    reader.push(part),
  );
  assert.equal(
    [...read, reader.rest()].map((piece) => piece?.data?.length),
    [undefined, long.length, 1],
  );
});

test('an event beyond the limit fails instead of being left out', () => {
  const reader = createEventReader(1024 * 1024);
  const fails = (work: () => unknown): void =>
    assert.throws(work, (error: unknown) => isSvcError(error) && error.kind === 'bad_gateway');
  fails(() => reader.push(Buffer.from(`data: ${long}`)));
});

test.run();
