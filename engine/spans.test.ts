import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chain, run } from './index.ts';
import type { Stage } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from '../fixtures/engine/run.ts';
import { ASK, reader, stage, testKinds, wholeAnswerer } from '../fixtures/engine/frames.ts';
import type { TestFrame } from '../fixtures/engine/frames.ts';

function planOf(...stages: readonly Stage<TestFrame>[]) {
  return mustCompile(chain(testKinds, stages));
}

test('reused spans contain nothing of the previous run', async () => {
  const spy = stage('spy', {
    watch: {
      part: () => {
        throw new Error('blind');
      },
    },
  });
  const sink = () => createCollectingSink<TestFrame>();
  const before = await run(planOf(reader, wholeAnswerer, spy), ASK, testRun(), sink());
  const after = await run(planOf(reader, wholeAnswerer), ASK, testRun(), sink());
  const kept = before.spans();
  assert.is(after.spans(kept), kept);
  assert.equal(kept.list(), after.spans().list());
});

test.run();
