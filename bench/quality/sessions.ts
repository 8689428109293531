/**
 * `npm run bench:quality -- --sessions DIR`: what compression saves on real sessions, by agent and by
 * length of session, in each mode. Input tokens, with system prompt and tools, and what was read from
 * the provider's cache after the pauses that there were, are the provider's own count in the files.
 */
import Table from 'cli-table3';
import { systemClock } from '../../engine/clock.ts';
import { estimateSessions } from '../../server/estimate/estimate.ts';
import type { EstimateReport } from '../../server/estimate/estimate.ts';
import type { SessionGroup } from '../../server/estimate/sums.ts';
import type { Mode } from '../../stages/compress/rule.ts';
import type { JobOptions } from '../../stages/compress/worker/job.ts';
import { createPrices } from '../../stages/ledger/prices.ts';

/** What was measured in one mode. */
export interface SessionsResult {
  readonly mode: Mode;
  readonly report: EstimateReport;
}

const HOUR_MS = 3_600_000;

/** Reads `folder` once for each mode. */
export async function measureSessions(
  folder: string,
  modes: readonly Mode[],
  settings: Omit<JobOptions, 'mode'>,
): Promise<readonly SessionsResult[]> {
  const results: SessionsResult[] = [];
  for (const mode of modes) {
    const report = await estimateSessions({
      folders: [folder],
      options: { ...settings, mode },
      prices: createPrices(),
      clock: systemClock,
      maxTimeMs: HOUR_MS,
    });
    results.push({ mode, report });
  }
  return results;
}

/** A row a mode, agent and length. */
export function printSessions(results: readonly SessionsResult[]): string {
  const head = [
    'mode',
    'agent',
    'requests each',
    'sessions',
    'requests',
    'counted',
    'tokens saved',
    'priced sessions',
    'input cost, median',
    'best',
    'worst',
  ];
  const table = new Table({ head, style: { head: [], border: [], compact: true } });
  for (const { mode, report } of results)
    table.push(...report.groups.map((group) => [mode, ...cells(group)]));
  const notes = results
    .slice(0, 1)
    .flatMap(({ report }) => [
      `${report.files} files, ${report.conversations} conversations, ${report.whole} of them with system prompt and tools in the file; all input tokens are the provider's count, which has both. 1 = the input cost without svc.`,
      ...report.failed.map(({ path, reason }) => `not read: ${path}: ${reason}`),
    ]);
  return [table.toString(), ...notes].join('\n');
}

function cells({ client, length, share, ...group }: SessionGroup): (string | number)[] {
  const cost = (saved: number | undefined): string =>
    saved === undefined ? '–' : (1 - saved).toFixed(3);
  const { inputTokens, savedTokens } = group;
  return [
    client,
    length === null ? 'any' : `${length.from}${length.to === null ? '+' : `–${length.to}`}`,
    group.sessions,
    group.requests,
    group.requests - group.uncounted,
    inputTokens === 0 ? '–' : `${((100 * savedTokens) / inputTokens).toFixed(1)}%`,
    share?.sessions ?? 0,
    cost(share?.median),
    cost(share?.highest),
    cost(share?.lowest),
  ];
}
