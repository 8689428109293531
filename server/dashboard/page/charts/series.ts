/** A report's series with all time steps, including empty ones. */
import type { ReportJson } from '../../contract.ts';

type Step = ReportJson['series'][number];

/** Guards against a bug: more steps than this do not fit a chart. */
const MAX_STEPS = 500;

type Range = Pick<ReportJson, 'series_since' | 'bucket_seconds'>;

/**
 * Returns the start of each step in epoch seconds, from the first step with requests to the last.
 */
export function timesOf(
  { series_since: since, bucket_seconds: step }: Range,
  series: readonly { readonly timestamp: string }[],
): readonly number[] {
  const first = Math.floor(Date.parse(since) / 1000 / step) * step;
  const last = Math.max(...series.map(({ timestamp }) => Date.parse(timestamp) / 1000));
  const times: number[] = [];
  for (let at = first; at <= last && times.length < MAX_STEPS; at += step) times.push(at);
  return times;
}

export function seriesOf(report: ReportJson) {
  const found = new Map(
    report.series.map((series) => [Date.parse(series.timestamp) / 1000, series]),
  );
  const times = timesOf(report, report.series);
  return {
    times,
    stepSeconds: report.bucket_seconds,
    /** Returns `of(step)` for each step; `empty` for a step without requests. */
    values: (of: (step: Step) => number | null, empty: number | null): (number | null)[] =>
      times.map((at) => {
        const one = found.get(at);
        return one === undefined ? empty : of(one);
      }),
  };
}
