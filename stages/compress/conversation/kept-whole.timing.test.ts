import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { measureGrowth, MOST_GROWTH } from '../../../fixtures/growth.ts';
import { result, times } from '../../../fixtures/compress/texts.ts';

/** Of four times the input, which is a megabyte; some 70 ms on a quiet machine. */
const LIMIT_MS = 1000;

const TEXTS: Readonly<Record<string, (size: 1 | 4) => string>> = {
  letters: (size) => 'a\n'.repeat(size * 125_000),
  nothing: (size) => '\n'.repeat(size * 250_000),
  blanks: (size) => ' \n'.repeat(size * 125_000),
  numbers: (size) => times(size * 30_000, (n) => `${n}\tx`).join('\n'),
};

for (const [name, textOf] of Object.entries(TEXTS)) {
  test(`a megabyte of tiny lines costs four times a quarter of it: ${name}`, () => {
    const work = (text: string): void => void result(text, 'bash', { command: './x' }, 'hybrid');
    const { ratio, fourMs } = measureGrowth(textOf, work);
    assert.ok(ratio < MOST_GROWTH, `${ratio} times`);
    assert.ok(fourMs < LIMIT_MS, `${fourMs} ms`);
  });
}

test.run();
