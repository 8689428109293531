/** Results as text: one table per workload, and every bar next to its figure. Pure functions. */
import type { Verdict } from './bars.ts';
import type { CostRun } from './observability.ts';
import type { ArmFigures, Comparison } from './compare.ts';

const HEAD = [
  '',
  'req/s',
  'x plain',
  'p50 ms',
  'p99 ms',
  '+p50',
  '+p99',
  'first ms',
  '+first',
  'CPU µs/req',
  'µs/event',
  'RSS MB',
  'load CPU',
  'failed',
] as const;

/** Formats one workload's table, without a final line end. */
export function comparisonText(comparison: Comparison, verdicts: readonly Verdict[]): string {
  const { workload, about, rounds, arms, throughputRatio, cpuRatio } = comparison;
  const ratios =
    `  svc over plain: throughput ${decimals(throughputRatio, 2)}x, ` +
    `CPU a request ${decimals(cpuRatio, 2)}x`;
  return [
    `${workload}: ${about} (median of ${rounds})`,
    ...columns([HEAD, ...arms.map(armRow)]),
    ratios,
    ...verdicts.map(verdictText),
  ].join('\n');
}

/** Ratios are judged to three decimals; counts have none. */
const PLACES: Readonly<Record<Verdict['unit'], number>> = {
  x: 3,
  ms: 2,
  s: 2,
  MB: 2,
  '%': 2,
  lines: 0,
  texts: 0,
  turns: 0,
  'files/s': 0,
  points: 2,
  rows: 0,
};

/** Formats a verdict: `met` or `missed`, what, the figure and its bar. */
export function verdictText({ what, value, unit, bar, direction, met }: Verdict): string {
  const sign = direction === 'at least' ? '≥' : '≤';
  const figure = `${decimals(value, PLACES[unit])} ${unit}`;
  return `  ${met ? 'met   ' : 'MISSED'}  ${what}: ${figure} (bar ${sign} ${bar} ${unit})`;
}

/**
 * Formats one line: CPU per request without and with, and the difference, as median and upper end
 * of its interval.
 */
export function costText({
  workload,
  what,
  rounds,
  withoutUs,
  withUs,
  added,
  upper,
}: CostRun): string {
  const percent = (share: number): string => `${decimals(share * 100, 1)} %`;
  return (
    `  ${workload}, ${what}: ${decimals(withoutUs, 0)} → ${decimals(withUs, 0)} µs a request, ` +
    `${percent(added)} more, at most ${percent(upper)} (${rounds} rounds)`
  );
}

function armRow(arm: ArmFigures): readonly string[] {
  if (arm.requests === 0)
    return [arm.name, ...Array<string>(HEAD.length - 2).fill('–'), String(arm.failed)];
  const { latency, first } = arm;
  return [
    arm.name,
    decimals(arm.perSecond, 0),
    decimals(arm.overPlain, 2),
    decimals(latency.p50, 2),
    decimals(latency.p99, 2),
    decimals(arm.addedP50Ms, 2),
    decimals(arm.addedP99Ms, 2),
    decimals(first.p50, 2),
    decimals(arm.addedFirstMs, 2),
    decimals(arm.cpuUsPerRequest, 0),
    decimals(arm.cpuUsPerEvent, 2),
    arm.rssEndBytes === null
      ? decimals(null, 0)
      : `${megabytes(arm.rssStartBytes)}→${megabytes(arm.rssEndBytes)}`,
    `${decimals(arm.loadCpuShare * 100, 0)}%`,
    String(arm.failed),
  ];
}

/** Formats cells as aligned columns, the first to the left and the others to the right. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

/** Formats a number with `places` decimals; a dash if there is none. */
export function decimals(value: number | null, places: number): string {
  return value === null || Number.isNaN(value) ? '–' : value.toFixed(places);
}

function megabytes(bytes: number | null): string {
  return bytes === null ? '–' : (bytes / 1024 / 1024).toFixed(0);
}
