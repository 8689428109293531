/** A source against the web stream that it stands for: whatever happens, both give the same. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import fc from 'fast-check';
import { Cancelled, Source, chain, createCanceller, run } from './index.ts';
import type { LiveAnswer } from './index.ts';
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
class Scripted extends Source<TestFrame> {
  taken = 0;
  cancels = 0;
  readonly #script: Script;
  #at = 0;
  #hasWaited = false;

  constructor(script: Script) {
    super();
    this.#script = script;
  }

  poll(): TestFrame | null | undefined {
    const { waits, silentAt } = this.#script;
    if (this.#at === silentAt || (waits?.[this.#at] === true && !this.#hasWaited)) return null;
    return this.#next();
  }

  async wait(): Promise<void> {
    if (this.#at === this.#script.silentAt) return new Promise(() => undefined);
    await Promise.resolve();
    this.#hasWaited = true;
  }

  cancel(): void {
    this.cancels += 1;
  }

  #next(): TestFrame | undefined {
    if (this.#at === this.#script.breaksAt) throw new TypeError('it broke off');
    const frame = this.#script.frames[this.#at];
    this.#at += 1;
    this.#hasWaited = false;
    if (frame !== undefined) this.taken += 1;
    return frame;
  }
}

interface Drive {
  readonly form: (answer: Scripted) => LiveAnswer<TestFrame>;
  readonly fuse?: boolean;
  /** Where the client stops taking anything. */
  readonly stallsAt?: number | undefined;
  /** The client leaves. */
  readonly leavesAfterMs?: number | undefined;
}

const shout = stage('shout', {
  on: { part: ({ text }) => ({ kind: 'part', text: text.toUpperCase() }) },
});

async function drive(script: Script, { form, fuse = true, stallsAt, leavesAfterMs }: Drive) {
  const answer = new Scripted(script);
  const answering = stage('answer', { on: { question: () => form(answer) } }, { answers: true });
  const plan = mustCompile(chain(testKinds, [reader, answering, shout]), { fuse });
  const canceller = createCanceller();
  let seen = 0;
  const sink = createCollectingSink<TestFrame>({
    signal: canceller.signal,
    onFrame() {
      seen += 1;
      return seen - 1 === stallsAt ? new Promise(() => undefined) : undefined;
    },
  });
  const done = run(plan, ASK, testRun(undefined, canceller.signal), sink);
  let takenAtLeave: number | undefined;
  if (leavesAfterMs !== undefined)
    setTimeout(() => {
      takenAtLeave = answer.taken;
      canceller.abort(new Cancelled('client_gone'));
    }, leavesAfterMs);
  const { outcome, error } = await done;
  return {
    frames: sink.frames,
    outcome,
    error: error?.message,
    node: error?.node,
    takenAtLeave,
    cancels: answer.cancels,
  };
}

const asPulled = (answer: Scripted) => answer;
const asStream = (answer: Scripted) => answer.toStream();

const scripts = fc.record({
  parts: fc.array(fc.string({ maxLength: 5 }), { maxLength: 8 }),
  waits: fc.array(fc.boolean(), { minLength: 11, maxLength: 11 }),
  breaksAt: fc.option(fc.nat(10), { nil: undefined }),
});

test('frames, errors and ends are those of the stream, fused and in a pipe', async () => {
  let broken = 0;
  await fc.assert(
    fc.asyncProperty(scripts, async ({ parts, waits, breaksAt }) => {
      const script = { frames: answerOf(...parts), waits, breaksAt };
      const pulled = await drive(script, { form: asPulled });
      assert.equal(pulled, await drive(script, { form: asStream }));
      assert.equal(pulled, await drive(script, { form: asPulled, fuse: false }));
      assert.equal(pulled, await drive(script, { form: asStream, fuse: false }));
      if (pulled.outcome !== 'ok') broken += 1;
    }),
    { numRuns: 200 },
  );
  assert.ok(broken > 20, `only ${broken} broke`);
});

test('a client that takes nothing holds the source back at the same frame, and stops it by leaving', async () => {
  const frames = answerOf(...Array.from({ length: 50 }, (_, n) => `${n}`));
  for (const stallsAt of [0, 1, 7]) {
    const how = { stallsAt, leavesAfterMs: 5 };
    for (const waits of [undefined, frames.map((_, n) => n % 2 === 1)]) {
      const pulled = await drive({ frames, waits }, { form: asPulled, ...how });
      assert.equal(pulled, await drive({ frames, waits }, { form: asStream, ...how }));
      assert.is(pulled.takenAtLeave, stallsAt + 1);
      assert.is(pulled.outcome, 'cancelled');
      assert.is(pulled.cancels, 1);
    }
  }
});

test('a client that leaves while nothing comes ends the run, though the read never settles', async () => {
  const script = { frames: answerOf('a', 'b'), silentAt: 2 };
  const pulled = await drive(script, { form: asPulled, leavesAfterMs: 5 });
  assert.equal(pulled, await drive(script, { form: asStream, leavesAfterMs: 5 }));
  assert.is(pulled.outcome, 'cancelled');
  assert.is(pulled.frames.length, 2);
  assert.is(pulled.cancels, 1);
});

test('what is there is written together, and leaves before the next is waited for', async () => {
  const events: string[] = [];
  const script = { frames: answerOf('a', 'b', 'c'), waits: [false, false, false, true] };
  const answering = stage(
    'answer',
    { on: { question: () => new Scripted(script) } },
    { answers: true },
  );
  const sink = {
    ...createCollectingSink<TestFrame>(),
    write: (frame: TestFrame) => void events.push(frame.kind),
    flush: () => void events.push('flush'),
    end: () => void events.push('end'),
  };
  await run(mustCompile(chain(testKinds, [reader, answering])), ASK, testRun(), sink);
  assert.equal(events, ['open', 'part', 'part', 'flush', 'part', 'close', 'end']);
});

test('a sink hears which frame is the last before the end, where that is known', async () => {
  const lastOf = async (form: (script: Script) => LiveAnswer<TestFrame>) => {
    const last: string[] = [];
    const answering = stage(
      'answer',
      { on: { question: () => form({ frames }) } },
      { answers: true },
    );
    const plan = mustCompile(chain(testKinds, [reader, answering, shout]));
    const sink = createCollectingSink<TestFrame>();
    const listening = {
      ...sink,
      write: (frame: TestFrame, isLast: boolean) => {
        if (isLast) last.push(frame.kind);
        return sink.write(frame, isLast);
      },
    };
    assert.is((await run(plan, ASK, testRun(), listening)).outcome, 'ok');
    return last;
  };
  const frames = answerOf('a', 'b');
  const [head, ...rest] = frames;
  assert.equal(await lastOf(() => Source.of(frames)), ['close']);
  const between = Source.of(rest.slice(0, -1)).map(
    (frame) => frame,
    () => rest.slice(-1),
  );
  assert.equal(await lastOf(() => between.tap({}).prepend([head!])), ['part', 'close']);
  assert.equal(await lastOf((script) => new Scripted(script)), []);
});

test('an answer made with another copy of the engine is one too, and may throw when it is cancelled', async () => {
  const frames = answerOf('a', 'b');
  let cancels = 0;
  const foreign = {
    [Symbol.for('svc.source')]: true,
    poll: () => frames.shift() ?? null,
    wait: () => new Promise<void>(() => undefined),
    cancel() {
      cancels += 1;
      throw new Error('it will not');
    },
  };
  const form = () => foreign as unknown as LiveAnswer<TestFrame>;
  const { outcome, frames: seen } = await drive({ frames: [] }, { form, leavesAfterMs: 5 });
  assert.is(outcome, 'cancelled');
  assert.is(seen.length, 4);
  assert.is(cancels, 1);
});

test.run();
