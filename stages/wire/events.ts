/**
 * Server-sent events in bytes. An `EventCursor` cuts a stream behind whole events without losing a
 * byte; what is inside is read only by those who ask. Where a read ends with an event, as nearly
 * all do, that costs a look at its last bytes.
 */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { SvcError } from '../../engine/index.ts';
import type { ChunkEvent, ChunkFrame } from '../model/frame.ts';
import { CR, LF, NOTHING_BEFORE, isEnd, lastEnd, lastThree, nextEnd } from './event-ends.ts';

const NOTHING = Buffer.alloc(0);
const NEW_LINE = Buffer.from('\n');
const DEFAULT_MAX_EVENT_BYTES = 1024 * 1024;

/** Bytes that hold whole events, one after another, or a part of one that is too long to be held. */
export interface EventRun {
  readonly bytes: Buffer;
  readonly isPart: boolean;
  /** What stood before, for who looks for the ends of events inside. */
  readonly before: number;
}

/** Follows one stream from event to event. It holds what is not yet a whole event, up to `maxEventBytes`. */
export class EventCursor {
  readonly #maxEventBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #beforeHeld = NOTHING_BEFORE;
  #beforeNext = NOTHING_BEFORE;
  #isInPart = false;

  constructor(maxEventBytes = DEFAULT_MAX_EVENT_BYTES) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Takes the next bytes; returns what they complete: mostly one run, none inside an event. */
  push(bytes: Buffer): EventRun[] {
    if (bytes.length === 0) return [];
    const end = lastEnd(bytes, this.#beforeNext);
    this.#beforeNext = lastThree(bytes, this.#beforeNext);
    if (end < 0) {
      this.#hold(bytes);
      return this.#takeParts();
    }
    const whole = this.#takeHeld(end === bytes.length ? bytes : bytes.subarray(0, end));
    const before = this.#beforeHeld;
    this.#beforeHeld = lastThree(whole, before);
    const isShort = !this.#isInPart && whole.length <= this.#maxEventBytes;
    const runs = isShort ? [{ bytes: whole, isPart: false, before }] : this.#cut(whole, before);
    if (end === bytes.length) return runs;
    // A copy: a slice would keep the whole read alive behind a few bytes.
    this.#hold(Buffer.from(bytes.subarray(end)));
    return [...runs, ...this.#takeParts()];
  }

  /** The unfinished event, which goes on growing; undefined if there is none. */
  held(): EventRun | undefined {
    if (this.#heldBytes === 0) return undefined;
    if (this.#held.length > 1) this.#held = [Buffer.concat(this.#held)];
    return { bytes: this.#held[0]!, isPart: this.#isInPart, before: this.#beforeHeld };
  }

  /** The same at the end of the stream, as if its blank line had come. */
  rest(): EventRun | undefined {
    const run = this.held();
    this.#held = [];
    this.#heldBytes = 0;
    return run;
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
  }

  #takeHeld(tail: Buffer): Buffer {
    if (this.#heldBytes === 0) return tail;
    const bytes = Buffer.concat([...this.#held, tail], this.#heldBytes + tail.length);
    this.#held = [];
    this.#heldBytes = 0;
    return bytes;
  }

  /** Of an event that outgrew the limit: as many parts of that size as are held, but for its last bytes. */
  #takeParts(): EventRun[] {
    if (this.#heldBytes <= this.#maxEventBytes) return [];
    const runs: EventRun[] = [];
    let bytes = this.#takeHeld(NOTHING);
    while (bytes.length > this.#maxEventBytes) {
      runs.push(this.#part(bytes.subarray(0, this.#maxEventBytes)));
      bytes = bytes.subarray(this.#maxEventBytes);
    }
    this.#isInPart = true;
    this.#held = [bytes];
    this.#heldBytes = bytes.length;
    return runs;
  }

  #part(bytes: Buffer): EventRun {
    const before = this.#beforeHeld;
    this.#beforeHeld = lastThree(bytes, before);
    return { bytes, isPart: true, before };
  }

  /** Whole events of which some may be too long, or are so already. */
  #cut(bytes: Buffer, before: number): EventRun[] {
    const runs: EventRun[] = [];
    let context = before;
    const add = (from: number, to: number, isPart: boolean): void => {
      if (to === from) return;
      const piece = bytes.subarray(from, to);
      runs.push({ bytes: piece, isPart, before: context });
      context = lastThree(piece, context);
    };
    let start = 0;
    for (let from = 0; from < bytes.length;) {
      const found = nextEnd(bytes, from, bytes.length, before);
      const end = found < 0 ? bytes.length : found;
      if (this.#isInPart || end - from > this.#maxEventBytes) {
        add(start, from, false);
        for (let at = from; at < end; at += this.#maxEventBytes)
          add(at, Math.min(end, at + this.#maxEventBytes), true);
        this.#isInPart = false;
        start = end;
      } else if (end - start > this.#maxEventBytes) {
        add(start, from, false);
        start = from;
      }
      from = end;
    }
    add(start, bytes.length, false);
    return runs;
  }
}

/** Where each event of a run begins and ends. */
function walk(run: EventRun, visit: (start: number, end: number) => void): void {
  const { bytes, before } = run;
  for (let start = 0; start < bytes.length;) {
    const found = run.isPart ? -1 : nextEnd(bytes, start, bytes.length, before);
    const end = found < 0 ? bytes.length : found;
    visit(start, end);
    start = end;
  }
}

/**
 * The events of `bytes` that hold one of `needles`, from the first to the last, each with where
 * it begins and ends. One native search over all of them: what makes it fast is a needle of at most
 * seven bytes whose first is rare in JSON, such as `_tokens` (with a leading quote, or with one more
 * byte, it is ten times slower and more).
 */
export function eventsHolding(
  { bytes, before }: Pick<EventRun, 'bytes' | 'before'>,
  needles: readonly Buffer[],
  visit: (event: Buffer, start: number, end: number) => void,
): void {
  let from = 0;
  let hit = firstHit(bytes, needles, from);
  while (hit >= 0) {
    let start = hit;
    while (start > from && !isEnd(bytes, start - 1, before)) start -= 1;
    const found = nextEnd(bytes, hit, bytes.length, before);
    const end = found < 0 ? bytes.length : found;
    visit(bytes.subarray(start, end), start, end);
    from = end;
    hit = firstHit(bytes, needles, from);
  }
}

/** Where the first of the needles stands at or behind `from`, or -1. */
function firstHit(bytes: Buffer, needles: readonly Buffer[], from: number): number {
  let first = -1;
  for (let i = 0; i < needles.length; i += 1) {
    const hit = bytes.indexOf(needles[i]!, from);
    if (hit >= 0 && (first < 0 || hit < first)) first = hit;
  }
  return first;
}

/** A scanner for events that hold one of `needles`. An event of more than `maxEventBytes` is passed over. */
export function createNeedleScanner(
  needles: readonly Buffer[],
  { maxEventBytes }: { readonly maxEventBytes?: number } = {},
) {
  const cursor = new EventCursor(maxEventBytes);
  return {
    /** Takes the next bytes, in any split, and hands over every completed event that holds a needle, all its lines together. */
    push(bytes: Buffer, onEvent: (event: Buffer) => void): void {
      for (const run of cursor.push(bytes)) {
        if (!run.isPart) eventsHolding(run, needles, onEvent);
      }
    },
    /** The unfinished last event, if it holds a needle. */
    rest(): Buffer | undefined {
      const event = cursor.held();
      if (event === undefined || event.isPart) return undefined;
      return firstHit(event.bytes, needles, 0) < 0 ? undefined : event.bytes;
    },
  };
}

/** What an event's `data` lines hold, as bytes: of a long event a text would be made for nothing. */
export function dataOf(event: Buffer): Buffer {
  const values: Buffer[] = [];
  let start = 0;
  while (start < event.length) {
    const found = event.indexOf(LF, start);
    const lf = found < 0 ? event.length : found;
    const cr = event.subarray(start, lf).indexOf(CR);
    const end = cr < 0 ? lf : start + cr;
    if (event.toString('latin1', start, start + 5) === 'data:')
      values.push(event.subarray(start + 5, end), NEW_LINE);
    start = end + 1;
  }
  return values.length === 2 ? values[0]! : Buffer.concat(values);
}

/** The bytes from the end of the last event but `count` on; undefined if there are not so many. */
export function lastEvents(bytes: Buffer, count: number): Buffer | undefined {
  let left = count;
  for (let i = bytes.length - 1; i >= 0; i -= 1) {
    if (!isEnd(bytes, i, 0)) continue;
    // The first one is the end of the last event.
    if (left === 0) return bytes.subarray(i + 1);
    left -= 1;
  }
  return undefined;
}

/** A stream's events, one by one. */
export type EventReader = ReturnType<typeof createEventReader>;

/**
 * A reader of one stream. `maxEventBytes` (1 MiB by default) bounds what it holds: an
 * event that outgrows it comes out in pieces of that size whose `data` is undefined.
 */
export function createSplitter({
  maxEventBytes,
}: { readonly maxEventBytes?: number } = {}): EventReader {
  const cursor = new EventCursor(maxEventBytes);
  const read = createPieceReader();
  return {
    push: (bytes) => cursor.push(bytes).flatMap((run) => eventsIn(run, read)),
    rest() {
      const run = cursor.rest();
      return run && read(run.bytes, run.isPart);
    },
  };
}

const MAX_READ_MIB = 32;

/**
 * A reader that must not miss an event, since what is made of them would else lack one and end as
 * if it had been whole. Throws `bad_gateway` for one of more than `maxEventBytes`, 32 MiB by default.
 */
export function createEventReader(maxEventBytes = MAX_READ_MIB * 1024 * 1024) {
  const splitter = createSplitter({ maxEventBytes });
  const checked = (piece: ChunkEvent): ChunkEvent => {
    if (piece.data === undefined && piece.bytes.length >= maxEventBytes) throw tooLong();
    return piece;
  };
  return {
    /** Takes the next bytes and returns the events that they complete. Their bytes, concatenated, are what came in. */
    push: (bytes: Buffer): ChunkEvent[] => splitter.push(bytes).map(checked),
    /** What is left at the end of the stream, read as if its blank line had come; undefined if nothing is. */
    rest(): ChunkEvent | undefined {
      const piece = splitter.rest();
      return piece && checked(piece);
    },
  };
}

function tooLong(): SvcError {
  return new SvcError(
    'bad_gateway',
    `The provider sent an event of more than ${MAX_READ_MIB} MiB, which can only be passed through unchanged`,
  );
}

type PieceReader = (bytes: Buffer, isPart: boolean) => ChunkEvent;

/** What is in a run, event by event; a part says nothing. */
export function eventsIn(run: EventRun, read: PieceReader = createPieceReader()): ChunkEvent[] {
  const events: ChunkEvent[] = [];
  walk(run, (start, end) => void events.push(read(run.bytes.subarray(start, end), run.isPart)));
  return events;
}

/** A chunk with a view of its events, which are read when somebody first asks. */
export class EventChunk implements ChunkFrame {
  readonly kind = 'chunk';
  readonly bytes: Buffer;
  readonly metered?: Buffer;
  readonly #run: EventRun;
  #events: readonly ChunkEvent[] | undefined;

  constructor(run: EventRun, metered?: Buffer) {
    this.bytes = run.bytes;
    if (metered !== undefined) this.metered = metered;
    this.#run = run;
    Object.freeze(this);
  }

  get events(): readonly ChunkEvent[] {
    this.#events ??= Object.freeze(eventsIn(this.#run));
    return this.#events;
  }
}

/** Reads what is inside a piece. A piece holds one event at most, so the parser is clean after each. */
function createPieceReader(): PieceReader {
  const found: EventSourceMessage[] = [];
  let isFirst = true;
  const parser = createParser({ onEvent: (message) => void found.push(message) });
  return (bytes, isPart) => {
    if (!isPart) {
      const text = bytes.toString('utf8');
      const body = isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text;
      // A tail lacks its line end, its blank line or both, and the parser holds a final CR back.
      parser.feed(body.endsWith('\n\n') || body.endsWith('\n\r\n') ? body : `${body}\n\n`);
    }
    isFirst = false;
    const message = found.pop();
    return Object.freeze({ event: message?.event, data: message?.data, bytes });
  };
}

/**
 * One event as bytes: `event:` line if it has a name, one `data:` line for each line of
 * `data`, and the blank line that ends it.
 */
export function encodeEvent(event: string | undefined, data: string): Buffer {
  const eventLine = event === undefined ? '' : `event: ${event}\n`;
  const body = /[\r\n]/.test(data)
    ? data
        .split(/\r\n|\r|\n/)
        .map((line) => `data: ${line}\n`)
        .join('')
    : `data: ${data}\n`;
  return Buffer.from(`${eventLine}${body}\n`);
}
