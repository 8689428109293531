import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compressJson } from './encode.ts';
import { contextFor } from '../../../fixtures/compress/texts.ts';

test('a value of a megabyte on one line takes less than two seconds', () => {
  const context = contextFor('json');
  const text = `[${'1,'.repeat(400_000)}1]`;
  const start = performance.now();
  compressJson(text, context);
  compressJson('['.repeat(1e6), context);
  assert.ok(performance.now() - start < 2000);
});

test.run();
