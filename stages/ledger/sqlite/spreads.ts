/**
 * The distribution of latencies, as a function of the database: the values of a million rows stay
 * in the thread that reads them. Sorting them in SQL takes four times as long.
 */
import type { LatencySpread, Spreads } from '../latency.ts';

/** A growing array of numbers in one piece of memory. */
class Numbers {
  #values = new Float64Array(1024);
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
  /** Consecutive values, and where in them the values of each step begin. */
  readonly values: Numbers;
  readonly runs: { readonly step: number; readonly from: number }[];
}

/** `latency_spreads(step, latency_ms)`: an aggregate over rows with a latency, for a connection. */
export const latencySpreads = {
  start: (): Collected => ({ values: new Numbers(), runs: [] }),
  varargs: true,
  step(collected: Collected, ...[step, latencyMs]: unknown[]): void {
    if (typeof latencyMs !== 'number' || typeof step !== 'number') return;
    const { values, runs } = collected;
    if (runs.at(-1)?.step !== step) runs.push({ step, from: values.values.length });
    values.add(latencyMs);
  },
  result: (collected: Collected): string => JSON.stringify(spreadsOf(collected)),
};

function spreadsOf({ values, runs }: Collected): Spreads {
  const all = values.values;
  const byStep = new Map<number, Float64Array[]>();
  for (const [index, { step, from }] of runs.entries()) {
    const run = all.subarray(from, runs[index + 1]?.from ?? all.length);
    const known = byStep.get(step);
    if (known === undefined) byStep.set(step, [run]);
    else known.push(run);
  }
  const bySteps = [...byStep].map(
    ([step, parts]) => [step, spreadOf(concatenate(parts).toSorted())] as const,
  );
  return { all: { ...spreadOf(all.toSorted()), samples: all.length }, bySteps };
}

function concatenate(parts: readonly Float64Array[]): Float64Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function spreadOf(sorted: Float64Array): LatencySpread {
  const at = (percent: number): number | null =>
    sorted[Math.floor((sorted.length * percent + 99) / 100) - 1] ?? null;
  return { p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) };
}
