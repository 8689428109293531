import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { measureGrowth, MOST_GROWTH } from '../../../fixtures/growth.ts';
import { printedBy } from './command.ts';

/** Of 250,000 characters; at most some 5 ms on a quiet machine. */
const LIMIT_MS = 200;

for (const piece of ['"', "a'", '$(', 'sudo ']) {
  test(`a command that goes on with ${piece.trim()} is read quickly however long it is`, () => {
    const textOf = (size: 1 | 4): string => piece.repeat((size * 62_500) / piece.length);
    const { ratio, fourMs } = measureGrowth(textOf, (text) => void printedBy(text));
    assert.ok(ratio < MOST_GROWTH, `${ratio} times`);
    assert.ok(fourMs < LIMIT_MS, `${fourMs} ms`);
  });
}

test.run();
