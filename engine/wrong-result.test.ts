/** What a handler returns that is neither a frame nor an answer, as code without types may. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chain, run } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from './testing.ts';
import { ASK, answerOf, reader, stage, testKinds } from './testing-frames.ts';
import type { TestFrame } from './testing-frames.ts';

const answering = stage('answer', { on: { question: () => answerOf('a') } }, { answers: true });

test('it is told as the fault of its stage, whatever it is', async () => {
  for (const wrong of ['text', 7, true]) {
    const culprit = stage('culprit', { on: { part: () => wrong as never } });
    const plan = mustCompile(chain(testKinds, [reader, answering, culprit]));
    const { error } = await run(plan, ASK, testRun(), createCollectingSink<TestFrame>());
    assert.is(error?.kind, 'internal', String(wrong));
    assert.is(error?.node, 'culprit', String(wrong));
    assert.match(error?.message ?? '', "Stage 'culprit' returned a");
  }
});

test.run();
