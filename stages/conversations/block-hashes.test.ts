/** Hashes reused from the previous request equal those that a new process computes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { requestOf } from '../../fixtures/compress/stage.ts';
import { createRandom, randomInt } from '../../fixtures/random.ts';
import type { Original } from '../model/request.ts';
import { createBlockHashes } from './block-hashes.ts';

const LONG = 'What a tool has printed, over and over. '.repeat(500);
const tool = (name: string): object => ({ name, description: LONG, input_schema: {} });

function read(original: Original, hashesOf: ReturnType<typeof createBlockHashes>): unknown {
  const hashes = hashesOf(original);
  const blocks = original.blocks();
  const counts = [1, blocks.length >> 1, blocks.length - 2, blocks.length].filter(
    (count) => count > 0,
  );
  return {
    ids: [original.beginning(), original.conversation()],
    names: blocks.map(({ index }) => hashes.nameOf(index)),
    hashes: counts.map((count) => hashes.upTo(count)),
  };
}

test('keeps the hashes of the blocks correct through 200 random changes of a conversation', () => {
  const random = createRandom(33);
  const kept = createBlockHashes();
  let texts: string[] = [LONG];
  let tools = [tool('Read'), tool('Bash')];
  let task = 'Go on.';
  for (let turn = 0; turn < 200; turn += 1) {
    const what = randomInt(random, 0, 9);
    const at = randomInt(random, 0, texts.length);
    if (what === 0) texts = texts.slice(0, at + 1);
    else if (what === 1) texts[at] = `${LONG}${randomInt(random, 0, 3)}`;
    else if (what === 2) tools = tools.toReversed();
    else if (what === 3) tools = [...tools.slice(0, 1), tool(`T${randomInt(random, 0, 3)}`)];
    else if (what === 4) task = task === 'Go on.' ? 'Go up.' : 'Go on.';
    else texts.push(`${LONG}${randomInt(random, 0, 4)}`);
    if (texts.length > 20) texts = texts.slice(0, 4);
    const billing = { type: 'text', text: `x-anthropic-billing-header: ${turn}` };
    const messages = texts.flatMap((content, index) => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${index % 3}`, name: 'Read', input: {} }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${index % 3}`, content }] },
    ]);
    const body = {
      system: [billing, { type: 'text', text: LONG }],
      tools,
      messages: [{ role: 'user', content: task }, ...messages],
    };
    const [one, other] = [requestOf(body), requestOf(body)];
    assert.equal(read(one.original, kept), read(other.original, createBlockHashes()), `${turn}`);
  }
});

test.run();
