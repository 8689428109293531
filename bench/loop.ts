/** How long svc's event loop is held under load, for requests of a kilobyte and of 400. */
import type { Rig } from './arms.ts';
import type { LoopDelay } from './loop-delay.ts';
import { workloads } from './workloads.ts';

/** What one workload did to the event loop. */
export interface LoopRun extends LoopDelay {
  readonly workload: string;
  readonly requests: number;
}

const WORKLOADS = ['json', 'json-paced', 'large-body'];
/** Until code is compiled and the heap has its size. */
const WARM_UP_MS = 5000;

/** Loads svc with one workload after another for `seconds` each. */
export async function measureLoop(
  rig: Rig,
  seconds: number,
  onProgress: (text: string) => void,
): Promise<readonly LoopRun[]> {
  const runs: LoopRun[] = [];
  for (const name of WORKLOADS) {
    onProgress(`event loop: ${name}`);
    const { path, headers, body, connections, rate } = workloads.find(
      (each) => each.name === name,
    )!;
    const job = {
      port: rig.svc.port,
      path,
      headers,
      body,
      connections,
      ...(rate === undefined ? {} : { rate }),
    };
    await rig.load.call('run', { ...job, forMs: WARM_UP_MS });
    await rig.svc.call('loopDelay');
    const { ok } = await rig.load.call('run', { ...job, forMs: seconds * 1000 });
    runs.push({ workload: name, requests: ok, ...(await rig.svc.call('loopDelay')) });
  }
  return runs;
}
