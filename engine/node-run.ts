/**
 * One node in one run: its context, its notes, and the time spent in it. Time is
 * taken around the handlers by whoever calls them; authors never measure.
 */
import type { NoteValue, RunInfo, StageContext } from './context.ts';
import type { SpanNode } from './spans.ts';
import type { StageState } from './stage.ts';

export class NodeRun implements StageContext<StageState> {
  readonly run: RunInfo;
  readonly node: string;
  state: StageState = undefined;
  /** Names and values in turn. */
  #notes: (string | NoteValue)[] | undefined;
  #firstInMs: number | undefined;
  #firstOutMs: number | undefined;
  #lastOutMs: number | undefined;
  #busyMs = 0;
  #frames = 0;

  constructor(node: Pick<SpanNode, 'name'>, run: RunInfo) {
    this.run = run;
    this.node = node.name;
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

  /** Appends five numbers: first in, first out, last out, each since the start of the run or `NaN`; busy; frames. */
  pushTimes(times: number[]): void {
    const { startedMs } = this.run;
    times.push(
      (this.#firstInMs ?? NaN) - startedMs,
      (this.#firstOutMs ?? NaN) - startedMs,
      (this.#lastOutMs ?? NaN) - startedMs,
      this.#busyMs,
      this.#frames,
    );
  }

  /** Appends every note as `owner`, name and value. */
  pushNotes(notes: NoteValue[], owner: number): void {
    if (this.#notes === undefined) return;
    for (let i = 0; i < this.#notes.length; i += 2) {
      notes.push(owner, this.#notes[i]!, this.#notes[i + 1]!);
    }
  }
}
