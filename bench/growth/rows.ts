/** What must not grow with the rows of the ledger: a request, and the report of the dashboard. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../channel.ts';
import type { Child } from '../channel.ts';
import { writeLedger } from '../ledger-rows.ts';
import type { LoadCommands } from '../load.ts';
import type { SvcCommands } from '../svc-proxy.ts';
import { workloadNamed } from '../workloads.ts';
import { cpuMsOf, measurePoints } from './table.ts';
import type { GrowthTable } from './table.ts';

const FEWEST_ROWS = 10_000;
const WARM_UP_REQUESTS = 4000;
const REQUESTS = 1000;
const REPORTS = 10;
const WEEK_MS = 7 * 86_400_000;

const { path, headers, body } = workloadNamed('json');

interface Step {
  readonly size: number;
  readonly svc: Child<SvcCommands>;
}

/** Ledgers of 10,000 rows to `maxRows` in steps of ten, all of them open at once. */
export async function growthOfRows(
  upstreamPort: number,
  load: Child<LoadCommands>,
  maxRows: number,
  rounds: number,
  onProgress: (text: string) => void,
): Promise<readonly GrowthTable[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-growth-'));
  const steps: Step[] = [];
  try {
    for (let size = FEWEST_ROWS; size <= maxRows; size *= 10) {
      onProgress(`rows: a ledger of ${size}`);
      const file = join(folder, `${size}.db`);
      writeLedger(file, size);
      const how = { args: [String(upstreamPort)], env: { SVC_DB: file } };
      steps.push({ size, svc: await startChild<SvcCommands>('app/svc-proxy.js', how) });
    }
    const send = async ({ svc }: Step, requests: number): Promise<void> => {
      const { port } = svc;
      const { ok } = await load.call('run', {
        port,
        path,
        headers,
        body,
        connections: 4,
        requests,
      });
      await svc.call('written');
      if (ok !== requests) throw new Error(`${requests - ok} of ${requests} requests failed`);
    };
    const requestMs = async (step: Step) =>
      (await cpuMsOf(step.svc, () => send(step, REQUESTS))) / REQUESTS;
    const reportMs = async (step: Step) =>
      (await cpuMsOf(step.svc, () => readReports(step))) / REPORTS;
    for (const step of steps) {
      onProgress(`rows: warming up ${step.size}`);
      await send(step, WARM_UP_REQUESTS);
      await readReports(step);
    }
    onProgress('rows: requests and reports');
    const table = { sizes: 'rows', growth: 'flat' } as const;
    return [
      {
        ...table,
        name: 'rows, a request',
        about: 'requests of 1 kB until their rows are written',
        cost: 'a request',
        points: await measurePoints(steps, rounds, requestMs),
      },
      {
        ...table,
        name: 'rows, a report',
        about: "the dashboard's report of the last seven days, which has all rows",
        cost: 'a report',
        points: await measurePoints(steps, rounds, reportMs),
      },
    ];
  } finally {
    for (const { svc } of steps) await svc.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readReports({ svc }: Step): Promise<void> {
  for (let count = 0; count < REPORTS; count += 1) {
    const since = encodeURIComponent(new Date(Date.now() - WEEK_MS).toISOString());
    const url = `http://127.0.0.1:${svc.port}/dashboard/api/report?since=${since}`;
    const response = await fetch(url);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`the report has status ${response.status}`);
  }
}
