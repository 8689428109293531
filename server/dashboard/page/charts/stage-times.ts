/** When the stages of a request ran, and the notes of each. */
import type { Trace } from '../../contract.ts';
import { wholeNumber } from '../format.ts';

type Stage = Trace['stages'][number];

/** Returns the start and end of a stage's bar, in milliseconds since the start of the run. */
export function extentOf(stage: Stage): readonly [startMs: number, endMs: number] {
  const start = stage.first_in_ms ?? 0;
  return [start, Math.max(stage.last_out_ms ?? 0, start + stage.duration_ms)];
}

/** Returns a stage's name as the graph shows it: one inside another is marked. */
export function nameOf({ node, within }: Pick<Stage, 'node' | 'within'>): string {
  return within === null ? node : `▸ ${node}`;
}

/** Fields that are shown elsewhere or not at all. */
const LISTED = new Set([
  'name',
  'node',
  'within',
  'duration_ms',
  'first_in_ms',
  'first_out_ms',
  'last_out_ms',
  'frames',
  // Shown as a table, or meant only for programs.
  'block_groups',
  'recipes',
  'applied',
  'version',
  'prompt_cache_key',
]);

/** Notes whose names in JSON are older than the words of the pages. */
const TITLES: Readonly<Record<string, string>> = { tries: 'attempts' };

/** Returns the length of the time axis in milliseconds; never 0. */
export function lengthOf(trace: Trace): number {
  return Math.max(trace.duration_ms, ...trace.stages.map((stage) => extentOf(stage)[1]), 0.001);
}

/** Returns a stage's notes in words, without its times and without values meant for programs. */
export function notesOf(stage: Stage): (readonly [name: string, value: string])[] {
  return Object.entries(stage).flatMap(([name, value]) => {
    const words = LISTED.has(name) ? undefined : inWords(value);
    return words === undefined ? [] : [[TITLES[name] ?? name.replaceAll('_', ' '), words] as const];
  });
}

function inWords(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isInteger(value) ? wholeNumber(value) : String(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const parts = value.map(inWords);
  return parts.includes(undefined) ? undefined : parts.join(', ');
}
