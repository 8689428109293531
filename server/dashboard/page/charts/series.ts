/** A report's series with every step of time. */
import type { ReportJson } from '../../contract.ts';

type Step = ReportJson['series'][number];

/** More than a chart can show would be a mistake of ours. */
const MOST_STEPS = 500;

type Range = Pick<ReportJson, 'series_since' | 'bucket_seconds'>;

/** Epoch seconds at which each step begins, from the first to the last that has data: the axis is that of the data. */
export function timesOf(
  { series_since: since, bucket_seconds: step }: Range,
  series: readonly { readonly timestamp: string }[],
): readonly number[] {
  const first = Math.floor(Date.parse(since) / 1000 / step) * step;
  const last = Math.max(...series.map(({ timestamp }) => Date.parse(timestamp) / 1000));
  const times: number[] = [];
  for (let at = first; at <= last && times.length < MOST_STEPS; at += step) times.push(at);
  return times;
}

export function seriesOf(report: ReportJson) {
  const found = new Map(report.series.map((one) => [Date.parse(one.timestamp) / 1000, one]));
  const times = timesOf(report, report.series);
  return {
    times,
    stepSeconds: report.bucket_seconds,
    /** What `of` gives for each step; `empty` for one without requests. */
    values: (of: (step: Step) => number | null, empty: number | null): (number | null)[] =>
      times.map((at) => {
        const one = found.get(at);
        return one === undefined ? empty : of(one);
      }),
  };
}
