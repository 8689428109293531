import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { classify } from './classify.ts';

test('one line of a megabyte is classified in less than half a second', () => {
  for (const line of [
    'a'.repeat(1e6),
    'a/'.repeat(5e5),
    '{"a":' + '1,'.repeat(5e5),
    ' '.repeat(1e6),
  ]) {
    const start = performance.now();
    classify(line);
    assert.ok(
      performance.now() - start < 500,
      `${line.slice(0, 5)}: ${performance.now() - start} ms`,
    );
  }
});

test.run();
