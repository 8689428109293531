import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { result } from './testing.ts';

test('a megabyte of tiny lines is cheap', () => {
  const ids = Array.from({ length: 120_000 }, (_, n) => `${n}\tx`).join('\n');
  for (const text of ['a\n'.repeat(5e5), '\n'.repeat(1e6), ' \n'.repeat(5e5), ids]) {
    const start = performance.now();
    result(text, 'bash', { command: './x' }, 'hybrid');
    assert.ok(performance.now() - start < 1000, `${performance.now() - start} ms`);
  }
});

test.run();
