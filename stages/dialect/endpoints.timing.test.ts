import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { measureGrowth, MOST_GROWTH } from '../../fixtures/growth.ts';
import { resolveEndpoint } from './endpoints.ts';
import { modelInPath } from '../model/target.ts';

/** Of 16,000 characters, as long as a head may be; well below 1 ms on a quiet machine. */
const LIMIT_MS = 20;

for (const piece of ['count', 'generate', ':count', ':aB', 'aB', '/a:b']) {
  test(`a path that goes on with ${piece} is resolved quickly however long it is`, () => {
    const pathOf = (size: 1 | 4): string =>
      `/v1beta/models/m:${piece.repeat((size * 4000) / piece.length)}-`;
    const { ratio, fourMs } = measureGrowth(pathOf, (path) => {
      resolveEndpoint('POST', path, []);
      modelInPath(path);
    });
    assert.ok(ratio < MOST_GROWTH, `${ratio} times`);
    assert.ok(fourMs < LIMIT_MS, `${fourMs} ms`);
  });
}

test.run();
