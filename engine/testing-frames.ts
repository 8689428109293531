/** Frames that mean nothing, and stages that do next to nothing, for the engine's own tests. */
import type { FrameKinds } from './frame.ts';
import { defineStage } from './stage.ts';
import type { Behaviour, Stage } from './stage.ts';

export interface AskFrame {
  readonly kind: 'ask';
  readonly text: string;
}
export interface QuestionFrame {
  readonly kind: 'question';
  readonly words: readonly string[];
}
export interface OpenFrame {
  readonly kind: 'open';
  readonly title: string;
}
export interface PartFrame {
  readonly kind: 'part';
  readonly text: string;
}
export interface CloseFrame {
  readonly kind: 'close';
}
export type TestFrame = AskFrame | QuestionFrame | OpenFrame | PartFrame | CloseFrame;

export const testKinds: FrameKinds<TestFrame> = {
  request: ['ask', 'question'],
  response: ['open', 'part', 'close'],
  last: 'close',
};

export const ASK: AskFrame = { kind: 'ask', text: 'one two three' };

/** A complete answer of `parts`. */
export function answerOf(...parts: readonly string[]): TestFrame[] {
  return [
    { kind: 'open', title: 'answer' },
    ...parts.map((text) => ({ kind: 'part' as const, text })),
    { kind: 'close' },
  ];
}

/** A stage of the test vocabulary. */
export function stage(
  name: string,
  behaviour: Behaviour<TestFrame>,
  more: { readonly answers?: boolean; readonly needs?: 'events' } = {},
): Stage<TestFrame> {
  return defineStage<TestFrame, undefined, undefined>({ name, ...more, build: () => behaviour })(
    undefined,
    undefined,
  );
}

/** Reads the question into words. */
export const reader = stage('read', {
  on: { ask: ({ text }) => ({ kind: 'question', words: text.split(' ') }) },
});

/** Answers with one part a word, whole. */
export const wholeAnswerer = stage(
  'answer',
  { on: { question: ({ words }) => answerOf(...words) } },
  { answers: true },
);

/** A live answer that counts how many frames were taken from it and whether it was cancelled. */
export interface CountedSource {
  readonly stream: ReadableStream<TestFrame>;
  readonly taken: () => number;
  readonly cancelled: () => unknown;
}

/** Hands out `frames` one by one as they are pulled. */
export function countedSource(frames: Iterable<TestFrame>): CountedSource {
  const iterator = frames[Symbol.iterator]();
  let taken = 0;
  let cancelled: unknown;
  const stream = new ReadableStream<TestFrame>(
    {
      pull(controller) {
        const next = iterator.next();
        if (next.done === true) return controller.close();
        taken += 1;
        return controller.enqueue(next.value);
      },
      cancel(reason) {
        cancelled = reason ?? 'cancelled';
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, taken: () => taken, cancelled: () => cancelled };
}

/** Answers with what `source` gives at that moment. */
export function liveAnswerer(source: () => ReadableStream<TestFrame>): Stage<TestFrame> {
  return stage('answer', { on: { question: () => source() } }, { answers: true });
}
