/**
 * Measures how long svc's event loop is blocked under load: by requests of one kilobyte and of 400,
 * and by tool results that all have to be compressed.
 */
import type { Rig } from './arms.ts';
import type { LoadJob } from './load.ts';
import type { LoopDelay } from './loop-delay.ts';
import { toolResults } from './tool-results.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

/** Event loop delay under one workload. */
export interface LoopRun extends LoopDelay {
  readonly workload: string;
  /** Responses with status 200. */
  readonly requests: number;
  readonly failed: number;
}

const byName = (name: string): Workload => workloads.find((each) => each.name === name)!;
const LOADS: readonly Workload[] = [
  ...['json', 'json-paced', 'large-body'].map(byName),
  toolResults(byName('json')),
];
/** Warm-up until code is compiled and the heap has grown. */
const WARM_UP_MS = 5000;
/** No warm-up sends as many requests. */
const MEASURED_FROM = 10_000_000;

/** Runs one workload after another against svc, for `seconds` each. */
export async function measureLoop(
  rig: Rig,
  seconds: number,
  onProgress: (text: string) => void,
): Promise<readonly LoopRun[]> {
  const runs: LoopRun[] = [];
  for (const { name, path, headers, body, connections, rate, serial } of LOADS) {
    onProgress(`event loop: ${name}`);
    const job = (first: number): LoadJob => ({
      port: rig.svc.port,
      path,
      headers,
      body,
      connections,
      ...(rate === undefined ? {} : { rate }),
      ...(serial === undefined ? {} : { serial: { text: serial, first } }),
    });
    await rig.load.call('run', { ...job(0), forMs: WARM_UP_MS });
    await rig.svc.call('loopDelay');
    const { ok, failed } = await rig.load.call('run', {
      ...job(MEASURED_FROM),
      forMs: seconds * 1000,
    });
    const unanswered = Object.values(failed).reduce((sum, each) => sum + each, 0);
    const delay = await rig.svc.call('loopDelay');
    runs.push({ workload: name, requests: ok, failed: unanswered, ...delay });
  }
  return runs;
}
