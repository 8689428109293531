/**
 * What the nodes of a run did, in two flat lists that the next run can overwrite. Hundreds of
 * finished runs are kept for traces; as new objects each, the garbage collector copied all of them
 * twice before they counted as old.
 */
import type { NoteValue } from './context.ts';
import type { NodeRun } from './node-run.ts';

/** What one node did in a run. Times are milliseconds since the start of the run. */
export interface Span {
  readonly node: string;
  /** The node that it is inside of, whose time includes its own; undefined for most. */
  readonly within: string | undefined;
  readonly firstInMs: number | undefined;
  readonly firstOutMs: number | undefined;
  readonly lastOutMs: number | undefined;
  /** Time spent inside the node's own handlers, including waiting for their promises. */
  readonly busyMs: number;
  /** Frames seen. Where chunks are sampled, all are counted and some are timed. */
  readonly frames: number;
  readonly notes: { readonly [name: string]: NoteValue };
}

/** Numbers per node in `#times`, in the order of `NodeRun.writeTimes`. */
const TIMES = 5;

export class KeptSpans {
  #nodes: readonly SpanNode[] = [];
  /** Milliseconds since the start of the run, `TIMES` per node; `NaN` for what did not happen. */
  #times = new Float64Array(0);
  /** The node's position, name and value, in turn. */
  readonly #notes: NoteValue[] = [];

  /** Replaces the content with what `nodeRuns`, one for each of `nodes`, have recorded so far. */
  take(nodes: readonly SpanNode[], nodeRuns: readonly NodeRun[]): this {
    this.#nodes = nodes;
    const numbers = nodeRuns.length * TIMES;
    if (this.#times.length !== numbers) this.#times = new Float64Array(numbers);
    let notes = 0;
    for (let index = 0; index < nodeRuns.length; index += 1) {
      nodeRuns[index]!.writeTimes(this.#times, index * TIMES);
      notes = nodeRuns[index]!.writeNotes(this.#notes, notes, index);
    }
    this.#notes.length = notes;
    return this;
  }

  /**
   * Calls `visit` for every node that saw a frame, with the time spent in it and the node that it is
   * inside of, if any.
   */
  visitTimes(visit: (node: string, busyMs: number, within: string | undefined) => void): void {
    for (let index = 0; index < this.#nodes.length; index += 1) {
      const { name, within } = this.#nodes[index]!;
      const at = index * TIMES;
      if (this.#times[at + 4]! > 0) visit(name, this.#times[at + 3]!, within);
    }
  }

  /** Returns one span per node, in graph order; a node inside another follows it. */
  list(): readonly Span[] {
    return this.#nodes.map(({ name, within }, index) => {
      const [firstInMs, firstOutMs, lastOutMs, busyMs, frames] = this.#times.subarray(
        index * TIMES,
      );
      return {
        node: name,
        within,
        firstInMs: orUndefined(firstInMs!),
        firstOutMs: orUndefined(firstOutMs!),
        lastOutMs: orUndefined(lastOutMs!),
        busyMs: busyMs!,
        frames: frames!,
        notes: this.#notesOf(index),
      };
    });
  }

  #notesOf(node: number): Span['notes'] {
    const notes = Object.create(null) as { [name: string]: NoteValue };
    for (let at = 0; at < this.#notes.length; at += 3) {
      const [owner, name, value] = this.#notes.slice(at, at + 3);
      if (owner === node) notes[name as string] = value!;
    }
    return notes;
  }
}

/** What spans need of a node. */
export interface SpanNode {
  readonly name: string;
  readonly within: string | undefined;
}

function orUndefined(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms;
}
