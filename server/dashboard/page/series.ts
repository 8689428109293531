/** A report's series with every step of time. */
import type { ReportJson } from '../contract.ts';

type Step = ReportJson['series'][number];

/** More than a chart can show would be a mistake of ours. */
const MOST_STEPS = 500;

export function seriesOf({ series_since: since, until, bucket_seconds: step, series }: ReportJson) {
  const found = new Map(series.map((one) => [Date.parse(one.timestamp) / 1000, one]));
  const first = Math.floor(Date.parse(since) / 1000 / step) * step;
  const last = Date.parse(until) / 1000;
  const times: number[] = [];
  for (let at = first; at <= last && times.length < MOST_STEPS; at += step) times.push(at);
  return {
    /** Epoch seconds at which each step begins. */
    times,
    stepSeconds: step,
    /** What `of` gives for each step; `empty` for one without requests. */
    values: (of: (step: Step) => number | null, empty: number | null): (number | null)[] =>
      times.map((at) => {
        const one = found.get(at);
        return one === undefined ? empty : of(one);
      }),
  };
}
