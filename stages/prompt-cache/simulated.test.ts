import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createPromptCache } from './simulated.ts';

const MINUTE = 60_000;
const block = (text: string, tokens = 2000) => ({ text, tokens });
const system = block('system');
const [a, b, c] = ['a', 'b', 'c'].map((text) => block(text));

test('blocks sent before are read, new ones are written, and those after the last marker are plain', () => {
  const cache = createPromptCache();
  assert.is(cache.cost({ blocks: [system, a!], breakpoints: [0, 1], atMs: 0 }), 4000 * 1.25);
  const longer = { blocks: [system, a!, b!, c!], breakpoints: [0, 2], atMs: MINUTE };
  assert.is(cache.cost(longer), 4000 * 0.1 + 2000 * 1.25 + 2000);
});

test('a changed block is a miss from there on, back to the last breakpoint before it', () => {
  const cache = createPromptCache();
  cache.cost({ blocks: [system, a!, b!], breakpoints: [0, 2], atMs: 0 });
  const changed = { blocks: [system, c!, b!], breakpoints: [0, 2], atMs: 1 };
  assert.is(cache.cost(changed), 2000 * 0.1 + 4000 * 1.25);
});

test('a prefix expires after five minutes without a hit, and each hit extends it by five', () => {
  const cost = (...minutes: number[]): number => {
    const cache = createPromptCache();
    const costs = minutes.map((at) =>
      cache.cost({ blocks: [system, a!], breakpoints: [1], atMs: at * MINUTE }),
    );
    return costs.at(-1)!;
  };
  assert.is(cost(0, 4, 8), 400);
  assert.is(cost(0, 5), 5000);
  assert.is(cost(0, 4, 9.5), 5000);
});

test('a prefix is found up to twenty blocks before a breakpoint, and short ones are not cached', () => {
  const many = Array.from({ length: 25 }, (_, n) => block(`new ${n}`, 100));
  const cost = (added: number): number => {
    const cache = createPromptCache();
    cache.cost({ blocks: [system], breakpoints: [0], atMs: 0 });
    return cache.cost({
      blocks: [system, ...many.slice(0, added)],
      breakpoints: [added],
      atMs: 1,
    });
  };
  assert.is(cost(20), 200 + 2500);
  assert.is(cost(21), (2000 + 2100) * 1.25);
  const cache = createPromptCache();
  const short = { blocks: [block('x', 1000)], breakpoints: [0], atMs: 0 };
  assert.is(cache.cost(short), 1000);
  assert.is(cache.cost(short), 1000);
});

test('a fifth breakpoint is refused', () => {
  const blocks = [system, a!, b!, c!, block('d')];
  assert.throws(
    () => createPromptCache().cost({ blocks, breakpoints: [0, 1, 2, 3, 4], atMs: 0 }),
    /5 breakpoints/,
  );
});

test.run();
