/**
 * The latencies of many rows, as a function of the database that returns them in one piece of
 * memory: a million result rows would have to be copied from one thread to another.
 */

/** A growing array of numbers in one piece of memory. */
class Numbers {
  #values = new Float64Array(64);
  #count = 0;

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count] = value;
    this.#count += 1;
  }

  get values(): Float64Array {
    return this.#values.subarray(0, this.#count);
  }
}

interface Collected {
  readonly byStep: Map<number, Numbers>;
  /** Rows are mostly read in the order of their steps. */
  last: { readonly step: number; readonly numbers: Numbers } | undefined;
}

/**
 * `latencies_by_step(step, latency_ms)`: an aggregate over rows with a latency, for a connection.
 * The result is numbers of 64 bits as the machine has them: how many steps, then each step with its
 * count, then the latencies of one step after the other.
 */
export const latenciesByStep = {
  start: (): Collected => ({ byStep: new Map(), last: undefined }),
  varargs: true,
  step(collected: Collected, ...[step, latencyMs]: unknown[]): void {
    if (typeof latencyMs !== 'number' || typeof step !== 'number') return;
    if (collected.last?.step !== step) {
      const numbers = collected.byStep.get(step) ?? new Numbers();
      collected.byStep.set(step, numbers);
      collected.last = { step, numbers };
    }
    collected.last.numbers.add(latencyMs);
  },
  result({ byStep }: Collected): Buffer {
    const steps = [...byStep].map(([step, { values }]) => ({ step, values }));
    const head = [steps.length, ...steps.flatMap(({ step, values }) => [step, values.length])];
    const count = steps.reduce((sum, { values }) => sum + values.length, 0);
    const all = new Float64Array(head.length + count);
    all.set(head);
    let at = head.length;
    for (const { values } of steps) {
      all.set(values, at);
      at += values.length;
    }
    return Buffer.from(all.buffer);
  },
};
