/**
 * Measures queries of a ledger with a million rows, spread over the last seven days:
 * `node dist/bench/million-rows.js [rows]`. CPU is that of this whole process, including the proxy
 * and its threads, and is more meaningful than wall time on a busy machine. The ledger is generated
 * in a temporary folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './figures.ts';
import { writeLedger } from './ledger-rows.ts';
import { withProxy } from '../fixtures/proxy.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const DAY_MS = 86_400_000;
const ROUNDS = 15;
/** Commands that read the file; the requests of `status` and `cache-stats` are among the paths. */
const REPORTS = [
  'stats',
  'models',
  'savings',
  'usage',
  'leaderboard',
  'report',
  'timeline',
  'attribution',
  'cost --week',
  'cost-breakdown',
  'compare',
  'requests',
  'check-alerts',
];
const PATHS = [
  '/metrics',
  '/stats',
  '/savings',
  '/metrics/dashboard',
  '/health',
  '/cache-stats',
  '/recent',
];

/** Runs the command line reports, each in its own process. */
async function reports(file: string, home: string): Promise<void> {
  const entry = fileURLToPath(new URL('../app/main.js', import.meta.url));
  const env = { PATH: process.env['PATH'], SVC_HOME: home, SVC_DB: file };
  for (const command of ['version', ...REPORTS]) {
    const timesMs: number[] = [];
    let code = 0;
    for (let round = 0; round < 3; round += 1) {
      const startedMs = performance.now();
      const child = spawn(process.execPath, [entry, ...command.split(' ')], {
        env,
        stdio: 'ignore',
      });
      [code] = (await once(child, 'close')) as [number];
      timesMs.push(performance.now() - startedMs);
    }
    const [least, , most] = timesMs.toSorted((a, b) => a - b);
    process.stdout.write(
      `svc ${command}: exit code ${code}, ${least?.toFixed(0)} to ${most?.toFixed(0)} ms\n`,
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), 'svc-million-'));
try {
  const file = join(folder, 'monitor.db');
  process.stdout.write(
    `${ROWS} rows written in ${(writeLedger(file, ROWS) / 1000).toFixed(1)} s\n`,
  );
  const yaml = 'metrics: {retention_days: 30}';
  await withProxy({ yaml, env: { SVC_DB: file } }, async ({ proxy }) => {
    const since = (days: number): string =>
      encodeURIComponent(new Date(Date.now() - days * DAY_MS).toISOString());
    const ranges = [1, 7, 30].flatMap((days) =>
      ['report', 'conversations', 'requests'].map(
        (name) => `/dashboard/api/${name}?since=${since(days)}`,
      ),
    );
    for (const path of [...PATHS, ...ranges]) {
      const timesMs: number[] = [];
      const cpuMs: number[] = [];
      let status = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const startedMs = performance.now();
        const cpu = process.cpuUsage();
        const response = await fetch(`${proxy.url}${path}`);
        await response.arrayBuffer();
        ({ status } = response);
        timesMs.push(performance.now() - startedMs);
        const { user, system } = process.cpuUsage(cpu);
        cpuMs.push((user + system) / 1000);
      }
      const [firstMs = Number.NaN, ...later] = timesMs;
      const middle = (values: readonly number[]): string => median(values).toFixed(1);
      process.stdout.write(
        `${path.replace(/=20.*/, `=${path.slice(-30, -20)}`)}: ${status}, first ${firstMs.toFixed(1)} ms, median ${middle(later)} ms, least ${Math.min(...later).toFixed(1)} ms, slowest ${Math.max(...later).toFixed(1)} ms, CPU ${middle(cpuMs.slice(1))} ms\n`,
      );
    }
    await reports(file, folder);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
