/** Parses the events of `/dashboard/events` from received bytes. */
import { createParser } from 'eventsource-parser';
import type { LiveLog, LiveRows, LiveState } from '../contract.ts';

/** A connection silent for this long is dead: the state is sent every six seconds at the latest. */
export const SILENCE_MS = 15_000;
/** Most log lines that a dashboard keeps. */
const MAX_LINES = 1000;

export interface FeedEvents {
  state(state: LiveState): void;
  rows(rows: LiveRows): void;
  log(log: LiveLog): void;
}

/** Returns a function that parses the bytes of one connection, given piece by piece. */
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

/** Returns the known lines with those of `log` added, cut to the newest. */
export function withLog(known: readonly string[], { lines }: LiveLog): readonly string[] {
  return [...known, ...lines].slice(-MAX_LINES);
}
