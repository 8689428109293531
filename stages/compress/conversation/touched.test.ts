import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TextClass } from '../../model/classify/classes.ts';
import { compressorsFor } from '../modes.ts';
import { isTouched } from './touched.ts';

const CLASSES: readonly TextClass[] = [
  ...(['narrative', 'log', 'trace', 'json', 'grep', 'listing', 'diff'] as const),
  ...(['code', 'config', 'html', 'blob', 'other'] as const),
];

test('what is touched is what there are algorithms for', () => {
  for (const mode of ['strict', 'hybrid', 'aggressive'] as const)
    for (const kind of CLASSES)
      assert.is(isTouched(mode, kind), compressorsFor(mode, kind).length > 0, `${mode} ${kind}`);
});

test.run();
