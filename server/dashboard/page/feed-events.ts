/** The events of `/dashboard/events`, taken from the bytes that they come as. */
import { createParser } from 'eventsource-parser';
import type { LiveLog, LiveRows, LiveState } from '../contract.ts';

/** The state comes every six seconds at the latest; a line that is silent for longer is dead. */
export const SILENCE_MS = 15_000;
/** Lines of the log that a dashboard keeps. */
const MOST_LINES = 1000;

export interface FeedEvents {
  state(state: LiveState): void;
  rows(rows: LiveRows): void;
  log(log: LiveLog): void;
}

/** A function that takes the bytes of one connection. */
export function createFeedReader(events: FeedEvents): (piece: Uint8Array) => void {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === 'state') events.state(JSON.parse(data) as LiveState);
      else if (event === 'rows') events.rows(JSON.parse(data) as LiveRows);
      else if (event === 'log') events.log(JSON.parse(data) as LiveLog);
    },
  });
  return (piece) => parser.feed(decoder.decode(piece, { stream: true }));
}

/** The lines that are kept once those of `log` have come. */
export function withLog(known: readonly string[], { lines }: LiveLog): readonly string[] {
  return [...known, ...lines].slice(-MOST_LINES);
}
