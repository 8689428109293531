/**
 * Live answers as web streams: a fused and an unfused graph give the same result whatever the
 * source does.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import fc from 'fast-check';
import { Cancelled, chain, createCanceller, run } from './index.ts';
import { createCollectingSink, mustCompile, testRun } from '../fixtures/engine/run.ts';
import { pipedDuring } from '../fixtures/engine/piped.ts';
import { answerOf, ASK, reader, upperCase, stage, testKinds } from '../fixtures/engine/frames.ts';
import type { TestFrame } from '../fixtures/engine/frames.ts';

interface Script {
  readonly frames: readonly TestFrame[];
  /** By index, whether the frame arrives late. */
  readonly waits?: readonly boolean[] | undefined;
  /** Index at which the answer fails. */
  readonly breaksAt?: number | undefined;
  /** Index from which on nothing arrives. */
  readonly silentAt?: number | undefined;
}

/** Plays a script, and records the calls. */
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
  /** Index at which the client stops reading. */
  readonly stallsAt?: number | undefined;
  /** True if the client disconnects once nothing moves any more. */
  readonly leaves?: boolean;
}

/** Resolves when `count` has not changed for fifty turns of the event loop. */
async function untilQuiet(count: () => number): Promise<void> {
  for (let quiet = 0, before = -1; quiet < 50; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (count() !== before) quiet = 0;
    before = count();
  }
}

async function drive(script: Script, { fuse = true, stallsAt, leaves = false }: Drive = {}) {
  const { stream, seen } = scripted(script);
  const answering = stage('answer', { on: { question: () => stream } }, { answers: true });
  const plan = mustCompile(chain(testKinds, [reader, answering, upperCase]), { fuse });
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
  if (leaves) {
    await untilQuiet(() => seen.taken + written);
    takenAtLeave = seen.taken;
    canceller.abort(new Cancelled('client_gone'));
  }
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

test('fused and unfused graphs give the same frames, errors and ends, and lose no frame before a break', async () => {
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

test('frames that a stage has produced before its source fails reach a client that stalls', async () => {
  const three = (text: string): TestFrame[] =>
    [1, 2, 3].map((n) => ({ kind: 'part', text: `${text}${n}` }));
  const list = stage('list', { on: { part: ({ text }) => three(text) } });
  const transform = () =>
    new TransformStream<TestFrame, TestFrame>({
      transform(frame, controller) {
        const made = frame.kind === 'part' ? three(frame.text) : [frame];
        for (const each of made) controller.enqueue(each);
      },
    });
  const own = stage('own', { transform });
  for (const [stages, made, before] of [
    [[list], 3],
    [[own], 3],
    [[list, upperCase, own], 9],
    [[own, list], 9],
    [[], 3, transform],
  ] as const)
    for (const fuse of [true, false])
      for (const stallsAt of [0, 1, 3]) {
        let release = (): void => undefined;
        const released = new Promise<void>((resolve) => (release = resolve));
        let written = 0;
        const sink = createCollectingSink<TestFrame>({
          onFrame: () => ((written += 1) === stallsAt + 1 ? released : undefined),
        });
        const { stream } = scripted({ frames: answerOf('a', 'b'), breaksAt: 2 });
        const answering = stage('answer', { on: { question: () => stream } }, { answers: true });
        const plan = mustCompile(chain(testKinds, [reader, answering, ...stages]), { fuse });
        const paced = before === undefined ? sink : { ...sink, before };
        const done = run(plan, ASK, testRun(), paced);
        // The source fails when more is requested; a stalled client does not request more.
        await untilQuiet(() => sink.frames.length);
        release();
        const { outcome, error } = await done;
        const how = `${stages.map(({ name }) => name).join()} ${fuse} ${stallsAt}`;
        assert.is(sink.frames.length, 1 + made, how);
        assert.equal([outcome, error?.node], ['partial', 'answer'], how);
      }
});

test('a client that reads nothing holds the source back at one frame and stops it by disconnecting', async () => {
  const frames = answerOf(...Array.from({ length: 50 }, (_, n) => `${n}`));
  for (const stallsAt of [0, 1, 7]) {
    for (const waits of [undefined, frames.map((_, n) => n % 2 === 1)]) {
      const how = { stallsAt, leaves: true };
      const { takenAtLeave, outcome, cancels } = await drive({ frames, waits }, how);
      // One at the sink, one in the TransformStream of the segment.
      assert.is(takenAtLeave, stallsAt + 2);
      assert.is(outcome, 'cancelled');
      assert.is(cancels, 1);
    }
  }
});

test('a client that disconnects ends the run even if the source never delivers again', async () => {
  const script = { frames: answerOf('a', 'b'), silentAt: 2 };
  const { outcome, frames, cancels } = await drive(script, { leaves: true });
  assert.is(outcome, 'cancelled');
  assert.is(frames.length, 2);
  assert.is(cancels, 1);
});

test('a live answer uses one TransformStream per segment and one pipe into the sink', async () => {
  const own = stage('own', { transform: () => new TransformStream<TestFrame, TestFrame>() });
  const countStreams = (...stages: Parameters<typeof chain<TestFrame>>[1][number][]) =>
    pipedDuring(async () => {
      const { stream } = scripted({ frames: answerOf('a') });
      const answering = stage('answer', { on: { question: () => stream } }, { answers: true });
      const plan = mustCompile(chain(testKinds, [reader, answering, ...stages]));
      await run(plan, ASK, testRun(), createCollectingSink());
    });
  assert.equal(await countStreams(upperCase), { transforms: 1, others: 0, pipes: 1 });
  assert.equal(await countStreams(upperCase, own, { ...upperCase, name: 'again' }), {
    transforms: 2,
    others: 0,
    pipes: 2,
  });
});

test.run();
