/** Events meant only for the meter are removed from a chunk, which stays one chunk. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chatUsageRequest } from '../../dialect/chat/usage-chunk.ts';
import { chunksWithout } from './answer.ts';

const event = (json: object): string => `data: ${JSON.stringify(json)}\n\n`;
const text = (content: string): string => event({ choices: [{ index: 0, delta: { content } }] });
const USAGE = event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 7 } });

test('the events before and after the usage event are sent as one chunk', () => {
  const whole = Buffer.from(text('a') + USAGE + text('b'));
  const chunk = chunksWithout(chatUsageRequest)(whole);
  assert.is(chunk.bytes.toString(), text('a') + text('b'));
  assert.is(chunk.metered, whole);
  const plain = Buffer.from(text('a'));
  assert.is(chunksWithout(chatUsageRequest)(plain).bytes, plain);
  assert.is(chunksWithout(chatUsageRequest)(Buffer.from(USAGE)).bytes.length, 0);
});

test.run();
