/**
 * The state of one run: a context for every node, the frames seen, and whether the run is
 * cancelled.
 */
import { abandon, isAnswer, isWhole } from './answer.ts';
import { Cancelled } from './context.ts';
import type { RunInfo } from './context.ts';
import { SvcError, isSvcError, toSvcError } from './error.ts';
import type { Frame, FrameKinds } from './frame.ts';
import type { Plan } from './graph/compile.ts';
import { nextTurn } from './pipe.ts';
import type { PipeScope } from './pipe.ts';
import { NodeRun } from './node-run.ts';
import type { Outcome, Settlement } from './settle.ts';
import { KeptSpans } from './spans.ts';
import { isTransform } from './stage.ts';
import type { Handled } from './stage.ts';

export class RunScope<F extends Frame> implements PipeScope<F> {
  readonly nodeRuns: readonly NodeRun[];
  /** True once any part of the answer has left the graph towards the sink. */
  hasSent = false;
  #plan: Plan<F>;
  #info: RunInfo;
  /** What the sink threw: not the fault of a node. */
  sinkFault: unknown;
  #last: { [kind: string]: F } = {};
  #answering: NodeRun | undefined;
  /** The node whose answer is being sent, if it replaced the answer of the answering node. */
  #source: string | undefined;
  /** Callbacks for cancellation. */
  readonly #stops = new Set<() => void>();
  #isListening = false;

  constructor(plan: Plan<F>, info: RunInfo) {
    this.#plan = plan;
    this.#info = info;
    this.nodeRuns = plan.nodes.map((node) => new NodeRun(node, info));
    // Most graphs have none.
    if (plan.inner.size > 0) this.#nest(plan);
  }

  #nest({ inner }: Plan<F>): void {
    for (const [index, nodes] of inner) {
      this.nodeRuns[index]!.inner = (name) => {
        const node = nodes.find((one) => one.name === name);
        return node && this.nodeRuns[node.index];
      };
    }
  }

  /** Calls every node's `open` first, so that `settled` always finds its state. */
  open(): void {
    const { nodes } = this.#plan;
    // By index: an iterator over a frozen list allocates an object for each step.
    for (let index = 0; index < nodes.length; index += 1) {
      const node = nodes[index]!;
      const { behaviour } = node.stage;
      if (isTransform(behaviour) || behaviour.open === undefined) continue;
      const nodeRun = this.nodeRuns[node.index]!;
      try {
        nodeRun.state = behaviour.open(nodeRun);
      } catch (thrown) {
        throw toSvcError(thrown, node.name);
      }
    }
  }

  get kinds(): FrameKinds<F> {
    return this.#plan.kinds;
  }

  now(): number {
    return this.#info.clock.monotonicMs();
  }

  record(frame: F): void {
    this.#last[frame.kind] = frame;
  }

  /** Records a response frame that leaves the graph. */
  recordSent(frame: F): void {
    this.record(frame);
    this.hasSent = true;
    if (frame.kind === this.#plan.kinds.last) this.#answering?.recordAnswerEnd(this.now());
  }

  answeredBy(index: number): void {
    this.#answering = this.nodeRuns[index];
    this.#source = this.#answering?.node;
  }

  setSource(node: string): void {
    this.#source = node;
  }

  /** Throws if an answer ended without its closing frame. */
  mustBeComplete(): void {
    if (this.#last[this.#plan.kinds.last] !== undefined) return;
    const error = new SvcError('bad_gateway', 'The answer broke off before its end');
    throw this.toNamedError(error);
  }

  toNamedError(thrown: unknown): SvcError {
    return toSvcError(thrown, this.#source);
  }

  /**
   * Returns the error of a run that ended with `thrown`: the sink's, or one named after its node,
   * by default the answering node.
   */
  faultOf(thrown: unknown): SvcError {
    return thrown === this.sinkFault ? toSvcError(thrown) : this.toNamedError(thrown);
  }

  /** Adds a note to the answering node about a fault that must not change the outcome. */
  noteFault(name: string, thrown: unknown): void {
    (this.#answering ?? this.nodeRuns[0])?.noteFault(name, thrown);
  }

  /** Returns the error of a cancelled run, or undefined while it is not cancelled. */
  cancelled(): SvcError | undefined {
    if (!this.#info.signal.aborted) return undefined;
    const reason: unknown = this.#info.signal.reason;
    if (isSvcError(reason)) return reason;
    if (!(reason instanceof Cancelled)) return new SvcError('cancelled', 'The run was cancelled');
    if (reason.reason === 'timeout')
      return new SvcError('gateway_timeout', 'The request took too long', { cause: reason });
    if (reason.reason === 'shutdown')
      return new SvcError('unavailable', 'The proxy is shutting down', { cause: reason });
    return new SvcError('cancelled', 'The client went away', { cause: reason });
  }

  /**
   * Settles as `promise` does, or rejects as soon as the run is cancelled; a value that arrives
   * later is passed to `onLate`.
   */
  race<T>(promise: Promise<T>, onLate?: (value: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isStopped = false;
      const forget = this.onCancel(() => {
        isStopped = true;
        reject(this.cancelled()!);
      });
      promise.then(
        (value) => {
          forget();
          if (isStopped) onLate?.(value);
          else resolve(value);
        },
        (thrown: unknown) => {
          forget();
          reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
        },
      );
    });
  }

  /** Like `race`; a live answer that arrives after cancellation is cancelled too. */
  raceAnswer(handled: Promise<Handled<F>>): Promise<Handled<F>> {
    return this.race(handled, cancelIfLive);
  }

  /**
   * Settles as `pipe` does; after cancellation the pipe gets one turn of the event loop to stop its
   * source.
   */
  async windDown(pipe: Promise<void>): Promise<void> {
    try {
      await this.race(pipe);
    } catch (thrown) {
      // No longer than that: an author's stream may never finish.
      if (this.cancelled() !== undefined) await nextTurn();
      throw thrown;
    }
  }

  /**
   * Calls `stop` once when the run is cancelled, immediately if it already is. The returned
   * function unsubscribes.
   */
  onCancel(stop: () => void): () => void {
    if (this.#info.signal.aborted) stop();
    else this.#stops.add(stop);
    if (!this.#isListening) this.#info.signal.addEventListener('abort', this.#onAbort);
    this.#isListening = true;
    return () => void this.#stops.delete(stop);
  }

  #onAbort = (): void => {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  };

  close(): void {
    this.#info.signal.removeEventListener('abort', this.#onAbort);
  }

  /** Returns how the run ended. The node where an error was thrown gets its message as a note. */
  settlement(outcome: Outcome, error: SvcError | undefined): Settlement<F> {
    if (error?.node !== undefined)
      this.nodeRuns.find(({ node }) => node === error.node)?.note('error', error.message);
    return {
      outcome,
      error,
      last: this.#last as Settlement<F>['last'],
      durationMs: this.now() - this.#info.startedMs,
      spans: (into = new KeptSpans()) => into.take(this.#plan.nodes, this.nodeRuns),
    };
  }

  /**
   * Reports the settlement to every stage, in graph order; a failing stage does not stop the next.
   */
  async settle(settlement: Settlement<F>): Promise<void> {
    const { nodes } = this.#plan;
    for (let index = 0; index < nodes.length; index += 1) {
      const { stage } = nodes[index]!;
      const nodeRun = this.nodeRuns[index]!;
      try {
        const settled = stage.behaviour.settled?.(settlement, nodeRun);
        if (settled !== undefined) await settled;
      } catch (thrown) {
        nodeRun.noteFault('settled_error', thrown);
      }
    }
  }
}

function cancelIfLive<F extends Frame>(result: Handled<F>): void {
  if (result === undefined || result === null || !isAnswer<F>(result) || isWhole(result)) return;
  abandon(result, undefined);
}
