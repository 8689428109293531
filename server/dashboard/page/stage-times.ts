/** When the stages of a request ran, and what each noted. */
import type { Trace } from '../contract.ts';

type Stage = Trace['stages'][number];

/** Where a stage's bar lies, in milliseconds since the start of the run. */
export function extentOf(stage: Stage): readonly [startMs: number, endMs: number] {
  const start = stage.first_in_ms ?? 0;
  return [start, Math.max(stage.last_out_ms ?? 0, start + stage.duration_ms)];
}

/** Notes that stand in a column of their own already. */
const LISTED = new Set([
  'name',
  'node',
  'duration_ms',
  'first_in_ms',
  'first_out_ms',
  'last_out_ms',
  'frames',
]);

/** The whole line of time, in milliseconds; never 0. */
export function lengthOf(trace: Trace): number {
  return Math.max(trace.duration_ms, ...trace.stages.map((stage) => extentOf(stage)[1]), 0.001);
}

/** What a stage noted beside its times, as texts. */
export function notesOf(stage: Stage): (readonly [name: string, value: string])[] {
  return Object.entries(stage)
    .filter(([name]) => !LISTED.has(name))
    .map(([name, value]) => [
      name.replaceAll('_', ' '),
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
}
