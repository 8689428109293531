/**
 * A proxy runs beside the programs that it serves for weeks, so its memory is held low. Left to
 * itself V8 lets the old generation double before it looks for garbage; in a run of JSON requests
 * that was 190 MB of memory in place of 140, at the same speed.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** How far the heap may grow over what is alive before it is collected, in percent. */
const GROWTH_PERCENT = 40;
/**
 * Most that one half of the young generation grows to. With 8 MB what requests hold for a moment
 * was copied more often, at a measured cost of some 7 % of a small request's CPU time. More than
 * 16 MB needs a flag at the start of the process.
 */
const YOUNG_BYTES = 16 * 2 ** 20;
/**
 * How much of that growth may be used up before a collection of the whole heap begins in the
 * background, and before it begins at once, in percent. Bodies count towards it although they
 * die young. Left to itself V8 begins as soon as less is left than a half of the young
 * generation; in bursts of streams and with large requests one such collection followed the other.
 */
const BEGIN_PERCENT = { background: 75, atOnce: 90 };

/**
 * The young generation is collected by the thread that asked for it. Of what requests allocate some
 * 2 % is alive then, which is copied sooner than helper threads wake: with them each request cost
 * 3 % more processor time, documents and streams alike, which others on the machine pay for too.
 */
const ALONE = '--no-parallel-scavenge';

/** Holds this process's heap close to what is alive in it. */
export function keepHeapSmall(): void {
  setFlagsFromString(ALONE);
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString(`--incremental-marking-soft-trigger=${BEGIN_PERCENT.background}`);
  setFlagsFromString(`--incremental-marking-hard-trigger=${BEGIN_PERCENT.atOnce}`);
  limitYoung();
  // The size as such can only be set before a process begins.
  new PerformanceObserver(limitYoung).observe({ entryTypes: ['gc'] });
}

/** V8 multiplies the young generation when it grows, and shrinks it in quiet times. */
function limitYoung(): void {
  const factor = Math.max(1, Math.floor(YOUNG_BYTES / halfBytes()));
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/**
 * What one half of the young generation has room for now. The size of the space does not say it:
 * in quiet times the other half is given back, and twice the growth would be allowed.
 */
function halfBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return Math.max(1, (young?.space_used_size ?? 0) + (young?.space_available_size ?? 0));
}
