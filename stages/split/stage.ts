/**
 * Cuts the chunks of an event stream at event boundaries and shows what is in
 * them. It stands in a graph only where another stage needs events.
 */
import { defineStage } from '../../engine/index.ts';
import type { ChunkFrame, ProxyFrame } from '../model/frame.ts';
import type { Services } from '../services.ts';
import { createSplitter } from '../wire/sse-split.ts';
import type { SseSplitter } from '../wire/sse-split.ts';

interface Splitting {
  splitter: SseSplitter | undefined;
}

/**
 * Rewrites `chunk` of streams, holding back what is not yet a whole event. What
 * is still held when the stream ends comes out as a last chunk before `end`.
 */
export const split = defineStage<ProxyFrame, undefined, Services>({
  name: 'split',
  build: () => ({
    transform() {
      const state: Splitting = { splitter: undefined };
      return new TransformStream<ProxyFrame, ProxyFrame>({
        transform(frame, controller) {
          if (frame.kind === 'head' && frame.streaming) state.splitter = createSplitter();
          if (frame.kind === 'end') {
            const rest = state.splitter?.rest();
            if (rest !== undefined) controller.enqueue(withEvents([rest]));
          }
          if (frame.kind !== 'chunk' || state.splitter === undefined) {
            controller.enqueue(frame);
            return;
          }
          const events = state.splitter.push(frame.bytes);
          if (events.length > 0) controller.enqueue(withEvents(events));
        },
      });
    },
  }),
});

function withEvents(events: NonNullable<ChunkFrame['events']>): ChunkFrame {
  const bytes = events.length === 1 ? events[0]!.bytes : Buffer.concat(events.map((e) => e.bytes));
  return Object.freeze({ kind: 'chunk', bytes, events });
}
