/** What a handler may return in place of a response frame, and which node is blamed for errors. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError, chain, createManualClock, run, streamOf } from './index.ts';
import type { Stage } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from '../fixtures/engine/run.ts';
import {
  ASK,
  answerOf,
  countedSource,
  liveAnswerer,
  reader,
  stage,
  testKinds,
} from '../fixtures/engine/frames.ts';
import type { CountedSource } from '../fixtures/engine/frames.ts';
import type { TestFrame } from '../fixtures/engine/frames.ts';

const part = (text: string): TestFrame => ({ kind: 'part', text });
const CLOSE: TestFrame = { kind: 'close' };

/** Runs a live answer of a, b and c through `stages`. */
async function answered(...stages: readonly Stage<TestFrame>[]) {
  const source = countedSource(answerOf('a', 'b', 'c'));
  return { ...(await through(source, ...stages)), source };
}

async function through(source: CountedSource, ...stages: readonly Stage<TestFrame>[]) {
  const sink = createCollectingSink<TestFrame>();
  const plan = mustCompile(
    chain(testKinds, [reader, liveAnswerer(() => source.stream), ...stages]),
  );
  const settlement = await run(plan, ASK, testRun(), sink);
  return { frames: sink.frames, ...settlement };
}

const onPart = (name: string, handle: (text: string) => unknown): Stage<TestFrame> =>
  stage(name, { on: { part: ({ text }) => handle(text) as undefined } });

const shout = onPart('shout', (text) => part(text.toUpperCase()));

test('a handler passes a frame by returning nothing, drops it with an empty list and replaces it with a list', async () => {
  const { frames } = await answered(
    onPart('each', (text) => {
      if (text === 'a') return undefined;
      return text === 'b' ? [] : [part('c1'), part('c2')];
    }),
    shout,
  );
  assert.equal(frames, answerOf('A', 'C1', 'C2'));
});

test('a frame may be added after the opening and before the closing one', async () => {
  const { frames, outcome } = await answered(
    stage('foot', {
      on: {
        open: (open) => [open, part('head')],
        close: (close) => [part('foot'), close],
      },
    }),
    shout,
  );
  assert.equal(frames, answerOf('HEAD', 'A', 'B', 'C', 'FOOT'));
  assert.is(outcome, 'ok');
});

test('a list that contains the closing frame ends the answer and stops its source', async () => {
  const { frames, outcome, source } = await answered(
    onPart('enough', (text) => (text === 'b' ? [part('no more'), CLOSE] : undefined)),
    shout,
  );
  assert.equal(frames, answerOf('A', 'NO MORE'));
  assert.is(outcome, 'ok');
  assert.is(source.taken(), 3);
  assert.ok(source.cancelled() !== undefined);
});

test('a live answer replaces the remaining frames and passes through the later stages', async () => {
  const { frames, outcome, source } = await answered(
    onPart('before', (text) => part(`${text}!`)),
    onPart('instead', (text) =>
      text === 'b!' ? streamOf([part('x'), part('y'), CLOSE]) : undefined,
    ),
    shout,
  );
  assert.equal(frames, answerOf('A!', 'X', 'Y'));
  assert.is(outcome, 'ok');
  assert.ok(source.cancelled() !== undefined);
});

test('a dropped frame reaches no later stage, and a stage’s own watcher sees every frame of a list', async () => {
  const seen: string[] = [];
  const watching = stage('watching', {
    on: { part: ({ text }) => (text === 'a' ? [] : [part(`${text}1`), part(`${text}2`)]) },
    watch: { part: ({ text }) => void seen.push(`own ${text}`) },
  });
  const later = stage('later', { watch: { part: ({ text }) => void seen.push(text) } });
  await answered(watching, later);
  assert.equal(seen, 'own b1,own b2,b1,b2,own c1,own c2,c1,c2'.split(','));
});

test('a frame out of order, or a value that is not a frame, is attributed to its stage', async () => {
  const wrong: readonly (readonly [keyof never, unknown])[] = [
    ...(['text', 7, true, null, {}] as const).map((value) => ['part', value] as const),
    ['part', [{ kind: 'open', title: 'again' }]],
    ['part', [CLOSE, part('later')]],
    ['part', [part('x'), 'text']],
    ['part', [null]],
    ['part', { kind: 'question', words: [] }],
    ['open', []],
    ['open', [part('x')]],
    ['close', []],
    ['close', [part('x')]],
  ];
  for (const [kind, value] of wrong) {
    const culprit = stage('culprit', { on: { [kind]: () => value } });
    const { error, source } = await answered(culprit);
    const name = `${String(kind)}: ${JSON.stringify(value)}`;
    assert.is(error?.kind, 'internal', name);
    assert.is(error?.node, 'culprit', name);
    assert.match(error?.message ?? '', "Stage 'culprit' returned a", name);
    if (kind !== 'close') assert.ok(source.cancelled() !== undefined, name);
  }
});

test('an error after the opening frame names its node, wherever it occurred', async () => {
  const oops = (): never => {
    throw new TypeError('oops');
  };
  const transformStage = (
    name: string,
    transform: TransformerTransformCallback<TestFrame, TestFrame>,
  ) => stage(name, { transform: () => new TransformStream<TestFrame, TestFrame>({ transform }) });
  let passes = 0;
  const pass = () =>
    transformStage(`pass-${(passes += 1)}`, (frame, controller) => controller.enqueue(frame));
  const nodeOf = async (...stages: readonly Stage<TestFrame>[]) => {
    const { error, spans } = await answered(...stages);
    const noted = spans()
      .list()
      .filter(({ notes }) => 'error' in notes);
    assert.equal(
      noted.map(({ node, notes }) => [node, notes['error']]),
      [[error?.node, error?.message]],
    );
    return error?.node;
  };
  assert.is(await nodeOf(shout, onPart('handler', oops), pass()), 'handler');
  assert.is(
    await nodeOf(
      pass(),
      onPart('later', async () => oops()),
      pass(),
    ),
    'later',
  );
  const inside = transformStage('inside', (frame, controller) =>
    frame.kind === 'part' ? oops() : controller.enqueue(frame),
  );
  assert.is(await nodeOf(shout, inside, pass()), 'inside');
  assert.is(await nodeOf(stage('opening', { transform: oops })), 'opening');
  assert.is(
    await nodeOf(
      onPart('instead', () => new ReadableStream({ pull: oops })),
      pass(),
    ),
    'instead',
  );
  const broken = (): CountedSource => {
    const source = countedSource(answerOf('a'));
    const given = source.stream.getReader();
    const stream = new ReadableStream<TestFrame>({
      async pull(controller) {
        const { value } = await given.read();
        if (value?.kind === 'part') oops();
        controller.enqueue(value!);
      },
    });
    return { ...source, stream };
  };
  assert.is((await through(broken(), shout)).error?.node, 'answer');
  assert.is((await through(broken(), pass(), shout, pass())).error?.node, 'answer');
  const known = new SvcError('bad_gateway', 'it broke off');
  const failing = onPart('known', () => {
    throw known;
  });
  assert.is((await answered(failing, pass())).error, known);
});

test('a stage with its own stream is timed like any other, and a faulty one stops its source', async () => {
  const clock = createManualClock();
  const slow = stage('slow', {
    transform: () =>
      new TransformStream<TestFrame, TestFrame>({
        transform(frame, controller) {
          clock.advance(3);
          controller.enqueue(frame);
        },
      }),
  });
  const { stream } = countedSource(answerOf('a', 'b'));
  const plan = mustCompile(chain(testKinds, [reader, liveAnswerer(() => stream), slow]));
  const { spans } = await run(plan, ASK, testRun(clock), createCollectingSink<TestFrame>());
  const span = spans()
    .list()
    .find(({ node }) => node === 'slow');
  assert.is(span?.frames, 4);
  assert.is(span?.busyMs, 12);
  const { source } = await answered(stage('opening', { transform: () => 7 as never }));
  assert.ok(source.cancelled() !== undefined);
});

test.run();
