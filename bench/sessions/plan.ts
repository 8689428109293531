/**
 * The topic, length and pauses of a session: determined by its number alone, before any
 * measurement.
 */
import { createRandom, randomInt } from '../../fixtures/random.ts';
import { weightedChoice, TASKS } from './agent.ts';
import type { Task } from './agent.ts';
import { TREES } from './tree.ts';

/** Requests per session, with weights. */
const LENGTHS: Readonly<Record<string, readonly [weight: number, from: number, to: number]>> = {
  short: [1, 10, 25],
  middle: [2, 25, 75],
  long: [1, 75, 151],
};
/** Requests per prompt. */
const TURN = [6, 21] as const;
/** Range of the pause between a response and the next prompt; log-uniform. */
const PAUSE_MS = [30_000, 27 * 60_000] as const;

export const PROMPTS: Readonly<Record<Task, string>> = {
  'bug hunt':
    'Something goes wrong here in rare cases: a value is lost on the way. Find out where, mend it, and show by the checks that it is mended.',
  feature:
    'I need another entry point beside the ones that are there, in the same style and with tests. Look at how it is done elsewhere first.',
  refactor:
    'The names here have grown apart. Please make them agree, file by file, and keep the checks green.',
  review:
    'Please review the last changes: what is risky, what is missing, what would you do otherwise?',
  analysis:
    'Explain to me how this is built: which parts there are, what depends on what, and where the complicated places are.',
};
export const FOLLOW_UP_PROMPTS = [
  'Go on.',
  'Good. Now the next part, please.',
  'Are you sure? Look at the callers as well.',
  'Please do the same for the neighbouring files.',
  'Thanks. Check it once more and then continue with what is left.',
];

export interface Plan {
  readonly task: Task;
  readonly tree: string;
  /** Requests of each turn; each of the first is followed by a pause. */
  readonly turns: readonly number[];
  readonly pausesMs: readonly number[];
}

/** Returns the plan of session `n`. */
export function planOf(n: number): Plan {
  const random = createRandom(n * 7919 + 1);
  const weights = Object.fromEntries(
    Object.entries(TASKS).map(([task, { weight }]) => [task, weight]),
  );
  const task = weightedChoice<Task>(random, weights);
  const [, from, to] =
    LENGTHS[
      weightedChoice(random, {
        short: LENGTHS['short']![0],
        middle: LENGTHS['middle']![0],
        long: LENGTHS['long']![0],
      })
    ]!;
  let left = randomInt(random, from, to);
  const turns: number[] = [];
  for (; left > 0; left -= turns.at(-1)!) turns.push(Math.min(left, randomInt(random, ...TURN)));
  const [least, most] = PAUSE_MS;
  const pausesMs = turns.slice(1).map(() => Math.round(least * (most / least) ** random()));
  return { task, tree: TREES[n % TREES.length]!, turns, pausesMs };
}
