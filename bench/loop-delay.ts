/** Measures the event loop delay of the current process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Times between event loop turns, in milliseconds; the measurement itself waits for one. */
export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NS_PER_MS = 1e6;

/**
 * Returns a function that reports the delay since its last call; measuring starts with the first
 * call.
 */
export function createLoopWatch(): () => LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  return () => {
    histogram.enable();
    const found = {
      p50Ms: histogram.percentile(50) / NS_PER_MS,
      p99Ms: histogram.percentile(99) / NS_PER_MS,
      maxMs: histogram.max / NS_PER_MS,
    };
    histogram.reset();
    return found;
  };
}
