/** The lateness of a process's event loop, watched from inside. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Times between turns of the event loop, in milliseconds; the watch itself waits for one. */
export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

const NS_PER_MS = 1e6;

/** Gives what has been since it was last asked; watching begins with the first time. */
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
