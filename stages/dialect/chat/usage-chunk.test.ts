/** What a client gets of a stream whose usage chunk was requested on its behalf. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chatUsageRequest } from './usage-chunk.ts';

const event = (chunk: object): Buffer => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
const text = (content: string): Buffer =>
  event({ id: 'c', choices: [{ index: 0, delta: { content } }], usage: null });
const USAGE = event({ id: 'c', choices: [], usage: { prompt_tokens: 3, total_tokens: 5 } });
const FILTER = event({ id: 'c', choices: [], prompt_filter_results: [{ prompt_index: 0 }] });
const DONE = Buffer.from('data: [DONE]\n\n');

const burst = Buffer.concat(Array.from({ length: 200 }, (_, at) => text(`word ${at} []`)));

test('a burst is left in pieces of the same memory, without its usage event', () => {
  const bytes = Buffer.concat([FILTER, burst, USAGE, DONE]);
  const left = chatUsageRequest.without(bytes);
  assert.ok(Buffer.concat(left).equals(Buffer.concat([FILTER, burst, DONE])));
  assert.is(left.length, 2);
  for (const piece of left) assert.is(piece.buffer, bytes.buffer);
});

test('a few events are left in one piece', () => {
  const left = chatUsageRequest.without(Buffer.concat([text('a'), USAGE, DONE]));
  assert.equal(
    left.map((piece) => piece.toString()),
    [`${text('a').toString()}${DONE.toString()}`],
  );
});

test('bytes without usage are the same buffer, and a usage chunk alone leaves nothing', () => {
  const bytes = Buffer.concat([FILTER, burst, DONE]);
  const left = chatUsageRequest.without(bytes);
  assert.is(left.length, 1);
  assert.is(left[0], bytes);
  assert.equal(chatUsageRequest.without(USAGE), []);
});

test.run();
