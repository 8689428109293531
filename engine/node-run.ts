/**
 * One node in one run: its context, its notes, and the time spent in it. The caller of the handlers
 * takes the time; stage authors never measure.
 */
import type { NoteValue, RunInfo, StageContext } from './context.ts';
import { truncateNote } from './truncate-text.ts';
import type { StageState } from './context.ts';

export class NodeRun implements StageContext<StageState> {
  readonly run: RunInfo;
  readonly node: string;
  readonly needsEvents: boolean;
  state: StageState = undefined;
  inner: StageContext['inner'] = undefined;
  /** Alternating names and values. */
  #notes: (string | NoteValue)[] | undefined;
  #firstInMs: number | undefined;
  #firstOutMs: number | undefined;
  #lastOutMs: number | undefined;
  #busyMs = 0;
  #frames = 0;
  /** When the frame went in whose output is still pending. */
  #enteredMs: number | undefined;

  constructor(node: { readonly name: string; readonly needsEvents: boolean }, run: RunInfo) {
    this.run = run;
    this.node = node.name;
    this.needsEvents = node.needsEvents;
  }

  note(name: string, given: NoteValue): void {
    const value = truncateNote(given);
    this.#notes ??= [];
    for (let i = 0; i < this.#notes.length; i += 2) {
      if (this.#notes[i] !== name) continue;
      this.#notes[i + 1] = value;
      return;
    }
    this.#notes.push(name, value);
  }

  /** Notes a fault that must not change the outcome. */
  noteFault(name: string, thrown: unknown): void {
    this.note(name, thrown instanceof Error ? thrown.message : 'unknown');
  }

  /** Records a frame that came in at `inMs` and left at `outMs`, both monotonic. */
  recordFrame(inMs: number, outMs: number): void {
    this.#frames += 1;
    this.#firstInMs ??= inMs;
    this.#firstOutMs ??= outMs;
    this.#lastOutMs = outMs;
    this.#busyMs += outMs - inMs;
  }

  /**
   * Records a frame that went into the node's own stream, which is busy until the next comes out.
   */
  recordEntry(inMs: number): void {
    this.#frames += 1;
    this.#firstInMs ??= inMs;
    this.#enteredMs ??= inMs;
  }

  /** Records a frame that came out of the node's own stream. */
  recordExit(outMs: number): void {
    this.#firstOutMs ??= outMs;
    this.#lastOutMs = outMs;
    this.#busyMs += outMs - (this.#enteredMs ?? outMs);
    this.#enteredMs = undefined;
  }

  /** Counts a frame without timing it. */
  countFrame(): void {
    this.#frames += 1;
  }

  /** Records that the last frame of this node's answer has left it. */
  recordAnswerEnd(outMs: number): void {
    this.#lastOutMs = outMs;
  }

  /**
   * Writes five numbers from `at` on: first in, first out, last out (each since the start of the
   * run, or `NaN`), busy, frames.
   */
  writeTimes(times: Float64Array, at: number): void {
    const { startedMs } = this.run;
    times[at] = (this.#firstInMs ?? NaN) - startedMs;
    times[at + 1] = (this.#firstOutMs ?? NaN) - startedMs;
    times[at + 2] = (this.#lastOutMs ?? NaN) - startedMs;
    times[at + 3] = this.#busyMs;
    times[at + 4] = this.#frames;
  }

  /** Writes every note as `owner`, name and value from `at` on; returns the next free position. */
  writeNotes(notes: NoteValue[], at: number, owner: number): number {
    if (this.#notes === undefined) return at;
    let next = at;
    for (let i = 0; i < this.#notes.length; i += 2) {
      notes[next] = owner;
      notes[next + 1] = this.#notes[i]!;
      notes[next + 2] = this.#notes[i + 1]!;
      next += 3;
    }
    return next;
  }
}
