/** Live answers as web streams: whatever the source does, every form of the graph makes the same of it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import fc from 'fast-check';
import { Cancelled, chain, createCanceller, run } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from '../fixtures/engine/run.ts';
import { ASK, answerOf, reader, stage, testKinds } from '../fixtures/engine/frames.ts';
import type { TestFrame } from '../fixtures/engine/frames.ts';

interface Script {
  readonly frames: readonly TestFrame[];
  /** Whether the frame at a place has to be waited for. */
  readonly waits?: readonly boolean[] | undefined;
  /** The place at which the answer breaks. */
  readonly breaksAt?: number | undefined;
  /** The place at which nothing comes any more. */
  readonly silentAt?: number | undefined;
}

/** Plays a script, and keeps what was asked of it. */
function scripted({ frames, waits, breaksAt, silentAt }: Script) {
  const seen = { taken: 0, cancels: 0 };
  let at = 0;
  const stream = new ReadableStream<TestFrame>(
    {
      async pull(controller) {
        if (at === silentAt) return new Promise<void>(() => undefined);
        if (waits?.[at] === true) await new Promise((resolve) => setImmediate(resolve));
        if (at === breaksAt) throw new TypeError('it broke off');
        const frame = frames[at];
        at += 1;
        if (frame === undefined) return controller.close();
        seen.taken += 1;
        return controller.enqueue(frame);
      },
      cancel() {
        seen.cancels += 1;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

interface Drive {
  readonly fuse?: boolean;
  /** Where the client stops taking anything. */
  readonly stallsAt?: number | undefined;
  /** The client leaves. */
  readonly leavesAfterMs?: number | undefined;
}

const shout = stage('shout', {
  on: { part: ({ text }) => ({ kind: 'part', text: text.toUpperCase() }) },
});

async function drive(script: Script, { fuse = true, stallsAt, leavesAfterMs }: Drive = {}) {
  const { stream, seen } = scripted(script);
  const answering = stage('answer', { on: { question: () => stream } }, { answers: true });
  const plan = mustCompile(chain(testKinds, [reader, answering, shout]), { fuse });
  const canceller = createCanceller();
  let written = 0;
  const sink = createCollectingSink<TestFrame>({
    signal: canceller.signal,
    onFrame() {
      written += 1;
      return written - 1 === stallsAt ? new Promise(() => undefined) : undefined;
    },
  });
  const done = run(plan, ASK, testRun(undefined, canceller.signal), sink);
  let takenAtLeave: number | undefined;
  if (leavesAfterMs !== undefined)
    setTimeout(() => {
      takenAtLeave = seen.taken;
      canceller.abort(new Cancelled('client_gone'));
    }, leavesAfterMs);
  const { outcome, error } = await done;
  const { cancels } = seen;
  const { frames } = sink;
  return { frames, outcome, error: error?.message, node: error?.node, takenAtLeave, cancels };
}

const scripts = fc.record({
  parts: fc.array(fc.string({ maxLength: 5 }), { maxLength: 8 }),
  waits: fc.array(fc.boolean(), { minLength: 11, maxLength: 11 }),
  breaksAt: fc.option(fc.nat(10), { nil: undefined }),
});

test('frames, errors and ends are the same, fused and unfused, and no frame before a break is lost', async () => {
  let broken = 0;
  await fc.assert(
    fc.asyncProperty(scripts, async ({ parts, waits, breaksAt }) => {
      const frames = answerOf(...parts);
      const script = { frames, waits, breaksAt };
      const fused = await drive(script);
      assert.equal(fused, await drive(script, { fuse: false }));
      assert.is(fused.frames.length, Math.min(breaksAt ?? frames.length, frames.length));
      if (fused.outcome === 'ok') return;
      broken += 1;
      assert.is(fused.node, 'answer');
    }),
    { numRuns: 200 },
  );
  assert.ok(broken > 20, `only ${broken} broke`);
});

test('a client that takes nothing holds the source back at one frame, and stops it by leaving', async () => {
  const frames = answerOf(...Array.from({ length: 50 }, (_, n) => `${n}`));
  for (const stallsAt of [0, 1, 7]) {
    for (const waits of [undefined, frames.map((_, n) => n % 2 === 1)]) {
      const how = { stallsAt, leavesAfterMs: 20 };
      const { takenAtLeave, outcome, cancels } = await drive({ frames, waits }, how);
      // One at the sink, one in the TransformStream of the segment.
      assert.is(takenAtLeave, stallsAt + 2);
      assert.is(outcome, 'cancelled');
      assert.is(cancels, 1);
    }
  }
});

test('a client that leaves while nothing comes ends the run, though the read never settles', async () => {
  const script = { frames: answerOf('a', 'b'), silentAt: 2 };
  const { outcome, frames, cancels } = await drive(script, { leavesAfterMs: 5 });
  assert.is(outcome, 'cancelled');
  assert.is(frames.length, 2);
  assert.is(cancels, 1);
});

test('every live answer is piped: a TransformStream a segment, and one pipe into the sink', async () => {
  const own = stage('own', { transform: () => new TransformStream<TestFrame, TestFrame>() });
  const counted = async (...stages: Parameters<typeof chain<TestFrame>>[1][number][]) => {
    // oxlint-disable-next-line typescript/unbound-method -- called with the stream as `this` below
    const { pipeThrough, pipeTo } = ReadableStream.prototype;
    const seen = { transforms: 0, others: 0, pipes: 0 };
    ReadableStream.prototype.pipeThrough = function <T>(
      this: ReadableStream,
      pair: ReadableWritablePair<T>,
      options?: StreamPipeOptions,
    ): ReadableStream<T> {
      seen[pair instanceof TransformStream ? 'transforms' : 'others'] += 1;
      return pipeThrough.call(this, pair, options) as ReadableStream<T>;
    };
    ReadableStream.prototype.pipeTo = function (...given) {
      seen.pipes += 1;
      return pipeTo.apply(this, given);
    };
    try {
      const { stream } = scripted({ frames: answerOf('a') });
      const answering = stage('answer', { on: { question: () => stream } }, { answers: true });
      const plan = mustCompile(chain(testKinds, [reader, answering, ...stages]));
      await run(plan, ASK, testRun(), createCollectingSink());
    } finally {
      Object.assign(ReadableStream.prototype, { pipeThrough, pipeTo });
    }
    return seen;
  };
  assert.equal(await counted(shout), { transforms: 1, others: 0, pipes: 1 });
  assert.equal(await counted(shout, own, { ...shout, name: 'again' }), {
    transforms: 2,
    others: 0,
    pipes: 2,
  });
});

test.run();
