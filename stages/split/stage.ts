/**
 * Cuts the chunks of an event stream after whole events and gives each its event view. It is only
 * in a graph if another stage needs events: right after the answering stage, and again before a stage
 * that would get chunks made by another one.
 */
import { defineStage } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { isPlain } from '../model/headers.ts';
import type { Services } from '../services.ts';
import { EventChunk, EventCursor } from '../wire/events.ts';

const NOTHING = Buffer.alloc(0);

interface Splitting {
  cursor: EventCursor | undefined;
  /** Set once a chunk brought bytes for the meter: those that it has not got yet. */
  unmetered: Buffer | undefined;
}

/** Holds back partial events; what is still held at the end is sent before `end`. */
export const split = defineStage<ProxyFrame, undefined, Services>({
  name: 'split',
  build: () => ({
    open: (): Splitting => ({ cursor: undefined, unmetered: undefined }),
    on: {
      head(head, { state }) {
        if (head.streaming && isPlain(head)) (state as Splitting).cursor = new EventCursor();
      },
      chunk(chunk, { state }) {
        const splitting = state as Splitting;
        const { cursor } = splitting;
        if (cursor === undefined || chunk.bytes.length === 0) return undefined;
        // The meter reads all of it, once, whatever the client gets to see.
        if (chunk.metered !== undefined) splitting.unmetered ??= cursor.held()?.bytes ?? NOTHING;
        const runs = cursor.push(chunk.bytes);
        const { unmetered } = splitting;
        if (unmetered === undefined) return runs.map((run) => new EventChunk(run));
        const metered = Buffer.concat([unmetered, chunk.metered ?? chunk.bytes]);
        splitting.unmetered = runs.length > 0 ? NOTHING : metered;
        return runs.map((run, at) => new EventChunk(run, at === 0 ? metered : NOTHING));
      },
      end(end, { state }) {
        const { cursor, unmetered } = state as Splitting;
        const rest = cursor?.rest();
        return rest && [new EventChunk(rest, unmetered), end];
      },
    },
  }),
});
