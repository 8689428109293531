import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError, chain, createManualClock, run } from './index.ts';
import type { Outcome, Settlement, Stage } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from '../fixtures/engine/run.ts';
import {
  ASK,
  answerOf,
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

const sleep = (ms = 5) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test('a whole answer passes every later stage without a stream', async () => {
  const sink = createCollectingSink<TestFrame>();
  const { outcome, last } = await run(
    planOf(reader, wholeAnswerer, upperCase),
    ASK,
    testRun(),
    sink,
  );
  assert.is(outcome, 'ok');
  assert.equal(sink.frames, answerOf('ONE', 'TWO', 'THREE'));
  assert.not(sink.wasLive);
  assert.equal(last.question?.words, ['one', 'two', 'three']);
});

test('a live answer passes the same stages and gives the same result', async () => {
  const sink = createCollectingSink<TestFrame>();
  const source = countedSource(answerOf('one', 'two', 'three'));
  const plan = planOf(
    reader,
    liveAnswerer(() => source.stream),
    upperCase,
  );
  const { outcome } = await run(plan, ASK, testRun(), sink);
  assert.is(outcome, 'ok');
  assert.ok(sink.wasLive);
  assert.equal(sink.frames, answerOf('ONE', 'TWO', 'THREE'));
});

test('frames keep their order when a handler is asynchronous', async () => {
  let delayMs = 6;
  const slow = stage('slow', {
    on: {
      async part({ text }) {
        await sleep((delayMs -= 2));
        return { kind: 'part', text: `${text}!` };
      },
    },
  });
  const sink = createCollectingSink<TestFrame>();
  const source = countedSource(answerOf('a', 'b', 'c'));
  await run(
    planOf(
      reader,
      liveAnswerer(() => source.stream),
      slow,
    ),
    ASK,
    testRun(),
    sink,
  );
  assert.equal(sink.frames, answerOf('a!', 'b!', 'c!'));
});

test('every stage is told once, in graph order, how a run ended', async () => {
  const boom = new SvcError('bad_request', 'no');
  const cases: { name: string; stages: () => Stage<TestFrame>[]; outcome: Outcome }[] = [
    { name: 'ok', stages: () => [reader, wholeAnswerer], outcome: 'ok' },
    {
      name: 'error before the answer',
      stages: () => [
        stage('bad', {
          on: {
            ask: () => {
              throw boom;
            },
          },
        }),
        wholeAnswerer,
      ],
      outcome: 'error',
    },
    {
      name: 'error inside a whole answer',
      stages: () => [
        reader,
        wholeAnswerer,
        stage('bad', {
          on: {
            part: () => {
              throw boom;
            },
          },
        }),
      ],
      outcome: 'error',
    },
    {
      name: 'error inside a live answer',
      stages: () => [
        reader,
        liveAnswerer(() => countedSource(answerOf('a', 'b')).stream),
        stage('bad', {
          on: {
            part: () => {
              throw boom;
            },
          },
        }),
      ],
      outcome: 'partial',
    },
    {
      name: 'an answer without an end',
      stages: () => [reader, liveAnswerer(() => countedSource(answerOf('a').slice(0, 2)).stream)],
      outcome: 'partial',
    },
  ];
  for (const { name, stages, outcome } of cases) {
    const list: string[] = [];
    const plan = planOf(settledBy('first', list), ...stages(), settledBy('last', list));
    const settlement = await run(plan, ASK, testRun(), createCollectingSink());
    assert.is(settlement.outcome, outcome, name);
    assert.equal(list, [`first:${outcome}`, `last:${outcome}`], name);
  }
});

test('a stage that fails to settle does not stop the next', async () => {
  const list: string[] = [];
  const bad = stage('bad', {
    settled: () => {
      throw new Error('disk');
    },
  });
  const { spans } = await run(
    planOf(reader, wholeAnswerer, bad, settledBy('last', list)),
    ASK,
    testRun(),
    createCollectingSink(),
  );
  assert.equal(list, ['last:ok']);
  assert.is(spans().list().length, 4);
});

test('an error names the node that threw it, and a foreign error becomes internal', async () => {
  const culprit = stage('culprit', {
    on: {
      question: () => {
        throw new TypeError('x is not a function');
      },
    },
  });
  const sink = createCollectingSink<TestFrame>();
  const { error } = await run(planOf(reader, culprit, wholeAnswerer), ASK, testRun(), sink);
  assert.is(error?.kind, 'internal');
  assert.is(error?.node, 'culprit');
  assert.not(error?.message.includes('not a function'));
  assert.instance(error?.cause, TypeError);
  assert.is(sink.error, error);
});

test('a watcher that throws is noted and affects nothing else', async () => {
  const spy = stage('spy', {
    watch: {
      part: () => {
        throw new Error('blind');
      },
    },
  });
  const sink = createCollectingSink<TestFrame>();
  const { outcome, spans } = await run(planOf(reader, wholeAnswerer, spy), ASK, testRun(), sink);
  assert.is(outcome, 'ok');
  assert.equal(sink.frames, answerOf('one', 'two', 'three'));
  assert.is(
    spans()
      .list()
      .find((span) => span.node === 'spy')?.notes['watch_error'],
    'blind',
  );
});

test('each node’s state is created before the first frame and belongs to it alone', async () => {
  const seen: unknown[] = [];
  const counting = (name: string) =>
    stage(name, {
      open: () => ({ parts: 0 }),
      watch: { part: (_frame, ctx) => void (ctx.state.parts += 1) },
      settled: (_settlement, ctx) => void seen.push([name, ctx.state]),
    });
  const failing = stage('bad', {
    on: {
      ask: () => {
        throw new Error('early');
      },
    },
  });
  await run(
    planOf(reader, wholeAnswerer, counting('a'), counting('b')),
    ASK,
    testRun(),
    createCollectingSink(),
  );
  await run(
    planOf(failing, reader, wholeAnswerer, counting('c')),
    ASK,
    testRun(),
    createCollectingSink(),
  );
  assert.equal(seen, [
    ['a', { parts: 3 }],
    ['b', { parts: 3 }],
    ['c', { parts: 0 }],
  ]);
});

test('all times come from the clock of the run', async () => {
  const clock = createManualClock();
  const slow = stage('slow', { on: { question: () => clock.advance(7) } });
  const { spans, durationMs } = await run(
    planOf(reader, slow, wholeAnswerer),
    ASK,
    testRun(clock),
    createCollectingSink(),
  );
  const span = spans()
    .list()
    .find((each) => each.node === 'slow');
  assert.is(span?.busyMs, 7);
  assert.is(span?.firstInMs, 0);
  assert.is(span?.lastOutMs, 7);
  assert.is(span?.frames, 1);
  assert.is(durationMs, 7);
});

test('a stage may have its own stream, before and after the answering stage', async () => {
  const doubled = stage('double', {
    transform: () =>
      new TransformStream<TestFrame, TestFrame>({
        transform(frame, controller) {
          controller.enqueue(frame);
          if (frame.kind === 'part') controller.enqueue(frame);
        },
      }),
  });
  const sink = createCollectingSink<TestFrame>();
  const { outcome } = await run(
    planOf(doubled, reader, wholeAnswerer, renamed(doubled), upperCase),
    ASK,
    testRun(),
    sink,
  );
  assert.is(outcome, 'ok');
  assert.equal(sink.frames, answerOf('ONE', 'ONE', 'TWO', 'TWO', 'THREE', 'THREE'));
});

function renamed(of: ReturnType<typeof stage>) {
  return { ...of, name: 'double-behind' };
}

test('a sink that fails to tell the client does not hide how the run ended', async () => {
  const sink = {
    ...createCollectingSink<TestFrame>(),
    whole: () => {
      throw new Error('broken pipe');
    },
    fail: () => {
      throw new Error('broken pipe');
    },
  };
  const settlement: Settlement<TestFrame> = await run(
    planOf(reader, wholeAnswerer),
    ASK,
    testRun(),
    sink,
  );
  assert.is(settlement.outcome, 'partial');
});

test('a faulty stage on the way to the answering stage is named, and throws nothing uncaught', async () => {
  const stray: unknown[] = [];
  const notice = (thrown: unknown): void => void stray.push(thrown);
  process.on('unhandledRejection', notice);
  const broken = () =>
    new TransformStream<TestFrame, TestFrame>({
      transform() {
        throw new TypeError('broken');
      },
    });
  const misplacing = () =>
    new TransformStream<TestFrame, TestFrame>({
      transform: (_frame, controller) => controller.enqueue({ kind: 'part', text: 'early' }),
    });
  try {
    for (const transform of [broken, misplacing]) {
      const plan = planOf(reader, stage('odd', { transform }), wholeAnswerer);
      const { error } = await run(plan, ASK, testRun(), createCollectingSink());
      assert.is(error?.node, 'odd');
      if (transform === misplacing)
        assert.is(error?.message, "Stage 'odd' returned a 'part' for a 'question' frame");
    }
    await sleep();
  } finally {
    process.off('unhandledRejection', notice);
  }
  assert.equal(stray, []);
});

test.run();
