/**
 * One node in one run: its context, its notes, and the time spent in it. Time is
 * taken around the handlers by whoever calls them; authors never measure.
 */
import type { NoteValue, RunInfo, StageContext } from './context.ts';
import type { Span } from './settle.ts';
import type { StageState } from './stage.ts';

/** What of a node its run has to know. */
interface NamedNode {
  readonly name: string;
  readonly stage: { readonly traceAs?: string };
}

export class NodeRun implements StageContext<StageState> {
  readonly run: RunInfo;
  readonly node: string;
  state: StageState = undefined;
  #traceAs: string | undefined;
  /** Names and values in turn: kept with hundreds of traces, and an object of each would be ten times larger. */
  #notes: (string | NoteValue)[] | undefined;
  #firstInMs: number | undefined;
  #firstOutMs: number | undefined;
  #lastOutMs: number | undefined;
  #busyMs = 0;
  #frames = 0;

  constructor(node: NamedNode, run: RunInfo) {
    this.run = run;
    this.node = node.name;
    this.#traceAs = node.stage.traceAs;
  }

  note(name: string, value: NoteValue): void {
    this.#notes ??= [];
    for (let i = 0; i < this.#notes.length; i += 2) {
      if (this.#notes[i] !== name) continue;
      this.#notes[i + 1] = value;
      return;
    }
    this.#notes.push(name, value);
  }

  /** A frame came in at `inMs` and left at `outMs`, both monotonic. */
  timed(inMs: number, outMs: number): void {
    this.#frames += 1;
    this.#firstInMs ??= inMs;
    this.#firstOutMs ??= outMs;
    this.#lastOutMs = outMs;
    this.#busyMs += outMs - inMs;
  }

  /** A frame passed that was not worth the clock. */
  counted(): void {
    this.#frames += 1;
  }

  /** The last frame of the answer that this node gave has left it. */
  answered(outMs: number): void {
    this.#lastOutMs = outMs;
  }

  span(): Span {
    const since = (ms: number | undefined) =>
      ms === undefined ? undefined : ms - this.run.startedMs;
    return {
      node: this.node,
      traceAs: this.#traceAs,
      firstInMs: since(this.#firstInMs),
      firstOutMs: since(this.#firstOutMs),
      lastOutMs: since(this.#lastOutMs),
      busyMs: this.#busyMs,
      frames: this.#frames,
      notes: toObject(this.#notes ?? []),
    };
  }
}

function toObject(pairs: readonly (string | NoteValue)[]): { readonly [name: string]: NoteValue } {
  const notes = Object.create(null) as { [name: string]: NoteValue };
  for (let i = 0; i < pairs.length; i += 2) notes[pairs[i] as string] = pairs[i + 1]!;
  return notes;
}
