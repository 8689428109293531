import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Cancelled, chain, createCanceller, run } from './index.ts';
import type { Stage } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from '../fixtures/engine/run.ts';
import {
  ASK,
  countedSource,
  liveAnswerer,
  reader,
  settledBy,
  upperCase,
  stage,
  testKinds,
  wholeAnswerer,
} from '../fixtures/engine/frames.ts';
import type { TestFrame } from '../fixtures/engine/frames.ts';

function planOf(...stages: readonly Stage<TestFrame>[]) {
  return mustCompile(chain(testKinds, stages));
}

function* endless(): Generator<TestFrame> {
  yield { kind: 'open', title: 'endless' };
  for (let n = 0; ; n += 1) yield { kind: 'part', text: `${n}` };
}

const sleep = (ms = 5) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Returns how many frames a source has passed to a sink that takes the first and never finishes it.
 */
async function countAdmitted(stages: readonly Stage<TestFrame>[], fuse: boolean): Promise<number> {
  const controller = createCanceller();
  const source = countedSource(endless());
  const sink = createCollectingSink<TestFrame>({
    signal: controller.signal,
    onFrame: () => new Promise(() => undefined),
  });
  const graph = chain(testKinds, [reader, liveAnswerer(() => source.stream), ...stages]);
  const done = run(mustCompile(graph, { fuse }), ASK, testRun(undefined, controller.signal), sink);
  await sleep(20);
  const taken = source.taken();
  controller.abort(new Cancelled('client_gone'));
  assert.is((await done).outcome, 'cancelled');
  assert.ok(source.cancelled() !== undefined);
  return taken;
}

test('a stalled sink admits exactly as many frames as there are buffers for them', async () => {
  const watching = (name: string) => stage(name, { watch: { part: () => undefined } });
  const own = stage('own', { transform: () => new TransformStream<TestFrame, TestFrame>() });
  // One at the sink, and one in each TransformStream on the way: a segment's, or an author's own.
  assert.is(await countAdmitted([], true), 1);
  assert.is(await countAdmitted([upperCase, watching('a'), watching('b')], true), 2);
  assert.is(await countAdmitted([upperCase, watching('a')], false), 3);
  assert.is(await countAdmitted([own], true), 2);
  assert.is(await countAdmitted([upperCase, own, watching('a')], true), 4);
  assert.is(await countAdmitted([own], false), 2);
});

test('a client that leaves while a write is pending stops the source at once', async () => {
  const controller = new AbortController();
  const source = countedSource(endless());
  const sink = createCollectingSink<TestFrame>({
    signal: controller.signal,
    onFrame: () => new Promise(() => undefined),
  });
  const plan = planOf(
    reader,
    liveAnswerer(() => source.stream),
    upperCase,
  );
  const done = run(plan, ASK, testRun(undefined, controller.signal), sink);
  await sleep(10);
  controller.abort(new Cancelled('client_gone'));
  await done;
  assert.ok(source.cancelled() !== undefined);
});

test('a whole answer is not reported as a success once the run was cancelled', async () => {
  const controller = new AbortController();
  const leaving = stage('leaving', {
    watch: { part: () => controller.abort(new Cancelled('client_gone')) },
  });
  const sink = createCollectingSink<TestFrame>();
  const plan = planOf(reader, wholeAnswerer, leaving);
  const settlement = await run(plan, ASK, testRun(undefined, controller.signal), sink);
  assert.is(settlement.outcome, 'cancelled');
});

test('a handler that never settles does not outlive the run', async () => {
  const controller = new AbortController();
  const stuck = stage('stuck', { on: { question: () => new Promise<undefined>(() => undefined) } });
  const list: string[] = [];
  const plan = planOf(reader, stuck, wholeAnswerer, settledBy('watcher', list));
  const sink = createCollectingSink<TestFrame>();
  const done = run(plan, ASK, testRun(undefined, controller.signal), sink);
  controller.abort(new Cancelled('client_gone'));
  assert.is((await done).outcome, 'cancelled');
  assert.equal(list, ['watcher:cancelled']);
});

test('a live answer that arrives after the run was cancelled is cancelled too', async () => {
  const controller = new AbortController();
  const source = countedSource(endless());
  let resolveAnswer: (stream: ReadableStream<TestFrame>) => void = () => undefined;
  const late = stage(
    'late',
    {
      on: {
        question: () =>
          new Promise<ReadableStream<TestFrame>>((resolve) => (resolveAnswer = resolve)),
      },
    },
    { answers: true },
  );
  const done = run(
    planOf(reader, late),
    ASK,
    testRun(undefined, controller.signal),
    createCollectingSink(),
  );
  await sleep(1);
  controller.abort(new Cancelled('client_gone'));
  assert.is((await done).outcome, 'cancelled');
  resolveAnswer(source.stream);
  await sleep(1);
  assert.ok(source.cancelled() !== undefined);
});

test('a late answer that cannot even be cancelled does no harm', async () => {
  const controller = new AbortController();
  const { stream } = countedSource(endless());
  stream.getReader();
  let resolveAnswer: (stream: ReadableStream<TestFrame>) => void = () => undefined;
  const opened = new Promise<ReadableStream<TestFrame>>((resolve) => (resolveAnswer = resolve));
  const late = stage('late', { on: { question: () => opened } }, { answers: true });
  const sink = createCollectingSink<TestFrame>();
  const done = run(planOf(reader, late), ASK, testRun(undefined, controller.signal), sink);
  await sleep(1);
  controller.abort(new Cancelled('client_gone'));
  assert.is((await done).outcome, 'cancelled');
  const stray: unknown[] = [];
  const collect = (thrown: unknown) => void stray.push(thrown);
  process.once('unhandledRejection', collect);
  resolveAnswer(stream);
  await sleep(5);
  process.off('unhandledRejection', collect);
  assert.equal(stray, []);
});

test.run();
