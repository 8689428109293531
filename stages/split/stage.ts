/**
 * Cuts the chunks of an event stream after whole events and gives each its event view. It is only
 * in a graph if another stage needs events, right after the answering stage.
 */
import { defineStage } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { isPlain } from '../model/headers.ts';
import type { Services } from '../services.ts';
import { EventChunk, EventCursor } from '../wire/events.ts';

const NOTHING = Buffer.alloc(0);

interface Splitting {
  cursor: EventCursor | undefined;
}

/** Holds back partial events; what is still held at the end is sent before `end`. */
export const split = defineStage<ProxyFrame, undefined, Services>({
  name: 'split',
  build: () => ({
    open: (): Splitting => ({ cursor: undefined }),
    on: {
      head(head, { state }) {
        if (head.streaming && isPlain(head)) (state as Splitting).cursor = new EventCursor();
      },
      chunk(chunk, { state }) {
        const runs = (state as Splitting).cursor?.push(chunk.bytes);
        const { metered } = chunk;
        // The meter reads all of it, once, whatever the client gets to see.
        if (runs?.length === 0 && metered !== undefined) return undefined;
        return runs?.map(
          (run, at) => new EventChunk(run, metered && (at === 0 ? metered : NOTHING)),
        );
      },
      end(end, { state }) {
        const rest = (state as Splitting).cursor?.rest();
        return rest && [new EventChunk(rest), end];
      },
    },
  }),
});
