import { test } from 'uvu';
import * as assert from 'uvu/assert';
import fc from 'fast-check';
import { chain, run, streamOf, toTransform } from './index.ts';
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
import type { TestFrame } from '../fixtures/engine/frames.ts';

/** Small stages of every form, to be combined at random. */
const makers: readonly ((n: number) => Stage<TestFrame>)[] = [
  (n) =>
    stage(`tag-${n}`, { on: { part: ({ text }) => ({ kind: 'part', text: `${text}<${n}` }) } }),
  (n) =>
    stage(`later-${n}`, {
      on: {
        async part({ text }) {
          await Promise.resolve();
          return { kind: 'part', text: `${text}~${n}` };
        },
      },
    }),
  (n) =>
    stage(`count-${n}`, {
      open: () => ({ seen: 0 }),
      on: {
        part(frame, ctx) {
          ctx.state.seen += 1;
          return ctx.state.seen % 2 === 0
            ? { kind: 'part', text: `${frame.text}#${ctx.state.seen}` }
            : undefined;
        },
      },
    }),
  (n) => stage(`watch-${n}`, { watch: { part: () => undefined, close: () => undefined } }),
  (n) =>
    stage(`title-${n}`, {
      on: { open: ({ title }) => ({ kind: 'open', title: `${title}/${n}` }) },
    }),
  (n) =>
    stage(`drop-${n}`, {
      on: { part: ({ text }) => (text.length % 3 === 0 ? [] : undefined) },
    }),
  (n) =>
    stage(`split-${n}`, {
      open: () => ({ seen: 0 }),
      on: {
        part: ({ text }) => Array.from(text, (letter) => ({ kind: 'part', text: `${letter}${n}` })),
      },
      watch: {
        part(_frame, ctx) {
          ctx.state.seen += 1;
        },
      },
    }),
  (n) =>
    stage(`split-later-${n}`, {
      on: {
        async part(frame) {
          await Promise.resolve();
          return frame.text.length > 4 ? [frame, { kind: 'part', text: `+${n}` }] : [];
        },
      },
    }),
  (n) =>
    stage(`frame-${n}`, {
      on: {
        open: (frame) => [frame, { kind: 'part', text: `first ${n}` }],
        close: async (frame) => [{ kind: 'part', text: `last ${n}` }, frame],
      },
    }),
  (n) =>
    stage(`cut-${n}`, {
      open: () => ({ seen: 0 }),
      on: {
        part(frame, ctx) {
          ctx.state.seen += 1;
          return ctx.state.seen === 4 ? [frame, { kind: 'close' }] : undefined;
        },
      },
    }),
  (n) =>
    stage(`instead-${n}`, {
      on: {
        part: ({ text }) =>
          text.startsWith('a')
            ? streamOf<TestFrame>([
                { kind: 'part', text: `instead ${n}` },
                { kind: 'part', text },
                { kind: 'close' },
              ])
            : undefined,
      },
    }),
  (n) =>
    stage(`own-${n}`, {
      transform: () =>
        new TransformStream<TestFrame, TestFrame>({
          transform(frame, controller) {
            if (frame.kind === 'part' && frame.text.length > 6) {
              controller.enqueue({ kind: 'part', text: frame.text.slice(0, 3) });
              controller.enqueue({ kind: 'part', text: frame.text.slice(3) });
            } else controller.enqueue(frame);
          },
        }),
    }),
];

const graphs = fc.record({
  picks: fc.array(fc.nat(makers.length - 1), { maxLength: 8 }),
  parts: fc.array(fc.string({ maxLength: 12 }), { maxLength: 12 }),
});

async function throughPlan(
  stages: readonly Stage<TestFrame>[],
  parts: readonly string[],
  fuse: boolean,
) {
  const answering = liveAnswerer(() => countedSource(answerOf(...parts)).stream);
  const plan = mustCompile(chain(testKinds, [reader, answering, ...stages]), { fuse });
  const sink = createCollectingSink<TestFrame>();
  const { outcome } = await run(plan, ASK, testRun(), sink);
  assert.is(outcome, 'ok');
  assert.ok(sink.wasLive);
  return sink.frames;
}

async function throughPipes(stages: readonly Stage<TestFrame>[], parts: readonly string[]) {
  let stream = countedSource(answerOf(...parts)).stream;
  for (const each of stages) stream = stream.pipeThrough(toTransform(each, testRun(), testKinds));
  const frames: TestFrame[] = [];
  for await (const frame of stream) frames.push(frame);
  return frames;
}

test('a graph gives the same frames fused, unfused and as real TransformStreams', async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async ({ picks, parts }) => {
      const make = () => picks.map((pick, n) => makers[pick]!(n));
      const fused = await throughPlan(make(), parts, true);
      const unfused = await throughPlan(make(), parts, false);
      const piped = await throughPipes(make(), parts);
      assert.equal(unfused, fused);
      assert.equal(piped, fused);
    }),
    { numRuns: 400 },
  );
});

test('toTransform streams an answer and pulls no faster than its reader', async () => {
  const source = countedSource(answerOf('a', 'b', 'c', 'd', 'e', 'f'));
  const pair = toTransform(
    liveAnswerer(() => source.stream),
    testRun(),
    testKinds,
  );
  const writer = pair.writable.getWriter();
  void writer.write({ kind: 'question', words: [] });
  const frames = pair.readable.getReader();
  assert.is((await frames.read()).value?.kind, 'open');
  assert.is((await frames.read()).value?.kind, 'part');
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.is(source.taken(), 2);
  await frames.cancel('enough');
  assert.is(source.cancelled(), 'enough');
});

test('a handler error fails a pipe and a plan in the same way', async () => {
  const bad = () =>
    stage('bad', {
      on: {
        part: () => {
          throw new TypeError('oops');
        },
      },
    });
  const stream = countedSource(answerOf('a')).stream.pipeThrough(
    toTransform(bad(), testRun(), testKinds),
  );
  let thrown: unknown;
  try {
    for await (const frame of stream) void frame;
  } catch (error) {
    thrown = error;
  }
  const plan = mustCompile(
    chain(testKinds, [reader, liveAnswerer(() => countedSource(answerOf('a')).stream), bad()]),
  );
  const { error } = await run(plan, ASK, testRun(), createCollectingSink());
  assert.is(String(thrown), String(error));
  assert.is(error?.node, 'bad');
});

test.run();
