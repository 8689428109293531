/** Removes the usage chunk from a stream if only the proxy requested it. */
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

test('a burst without its usage event consists of slices of the same memory', () => {
  const bytes = Buffer.concat([FILTER, burst, USAGE, DONE]);
  const remaining = chatUsageRequest.without(bytes);
  assert.ok(Buffer.concat(remaining).equals(Buffer.concat([FILTER, burst, DONE])));
  assert.is(remaining.length, 2);
  for (const piece of remaining) assert.is(piece.buffer, bytes.buffer);
});

test('a few events without the usage event are one piece', () => {
  const remaining = chatUsageRequest.without(Buffer.concat([text('a'), USAGE, DONE]));
  assert.equal(
    remaining.map((piece) => piece.toString()),
    [`${text('a').toString()}${DONE.toString()}`],
  );
});

test('bytes without usage are returned as the same buffer, and a lone usage chunk gives nothing', () => {
  const bytes = Buffer.concat([FILTER, burst, DONE]);
  const remaining = chatUsageRequest.without(bytes);
  assert.is(remaining.length, 1);
  assert.is(remaining[0], bytes);
  assert.equal(chatUsageRequest.without(USAGE), []);
});

test.run();
