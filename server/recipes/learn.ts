/**
 * Proposes a recipe from a long result, and keeps it only if it loses no line of any session that
 * the model repeated later, and none that reports a failure.
 */
import type { Clock } from '../../engine/index.ts';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Recipe } from '../../stages/compress/recipe/recipe.ts';
import { toRecipeSet } from '../../stages/compress/recipe/set.ts';
import { tryRecipe } from '../../stages/compress/recipe/try.ts';
import type { SampleOrigin, TrialResult } from '../../stages/compress/recipe/try.ts';
import { programsOf } from '../../stages/model/classify/command.ts';
import { checkConversation } from '../certify/session.ts';
import type { BrokenPromise } from '../certify/session.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import { createCounters } from '../estimate/counters.ts';
import { readFolders } from '../sessions/read-folders.ts';
import type { FoldersJob, FoldersRead } from '../sessions/read-folders.ts';
import type { Conversation } from '../sessions/session.ts';
import { lineShapes } from './line-shapes.ts';
import type { LineShape } from './line-shapes.ts';

export interface LearnJob {
  readonly name: string;
  readonly text: string;
  /** The command that printed the text, if known. */
  readonly command: string | undefined;
  readonly settings: EstimateSettings;
  readonly clock: Clock;
  readonly folders: FoldersJob;
}

export interface Learned {
  /** Undefined if nothing repeats, or every shape would lose a line. */
  readonly recipe: Recipe | undefined;
  readonly shapes: readonly LineShape[];
  /** Rejected shapes, each with a line that it would have lost. */
  readonly givenUp: readonly { readonly shape: LineShape; readonly lost: BrokenPromise }[];
  readonly tried: TrialResult | undefined;
  readonly read: FoldersRead;
  readonly conversations: number;
  /** Number of conversations in which the recipe ran. */
  readonly ranIn: number;
  readonly quoted: number;
}

/** Lines that are kept whatever their shape. */
const MUST_KEEP =
  '(?i)(error|warn|fail|fatal|panic|exception|traceback|denied|refused|missing|not found|time(d )?out|abort|cannot|unable)';
const CACHE_ENTRIES = 2000;

export async function learnRecipe(job: LearnJob): Promise<Learned> {
  const from: SampleOrigin = job.command === undefined ? {} : { command: job.command };
  const sessions: Conversation[] = [];
  let shapes = lineShapes(job.text);
  const givenUp: { shape: LineShape; lost: BrokenPromise }[] = [];
  let read: FoldersRead = { files: 0, failed: [], left: 0, unreadLines: 0 };
  if (shapes.length > 0)
    read = await readFolders(job.folders, async (one) => void sessions.push(one));
  const judge = createJudge(job.settings);
  for (;;) {
    const recipe = shapes.length === 0 ? undefined : proposeRecipe(job, shapes);
    const counts = { conversations: sessions.length, ranIn: 0, quoted: 0 };
    const lost: BrokenPromise[] = [];
    if (recipe !== undefined)
      for (const session of sessions) {
        const judged = await judge(session, recipe);
        counts.quoted += judged.quoted;
        if (judged.hasRun) counts.ranIn += 1;
        lost.push(...judged.lost);
      }
    const culprits = shapes.flatMap((shape) => {
      const found = lost.find(({ line }) => isOf(shape, line));
      return found === undefined ? [] : [{ shape, lost: found }];
    });
    // A line that fits no shape was lost with the lines around it: the largest shape is rejected.
    const [first] = lost;
    if (culprits.length === 0 && first !== undefined && shapes[0] !== undefined)
      culprits.push({ shape: shapes[0], lost: first });
    if (culprits.length === 0) {
      const tried = recipe === undefined ? undefined : tryRecipe(recipe, job.text, from);
      return { recipe, shapes, givenUp, tried, read, ...counts };
    }
    givenUp.push(...culprits);
    shapes = shapes.filter((shape) => culprits.every((culprit) => culprit.shape !== shape));
  }
}

function proposeRecipe({ name, command }: LearnJob, shapes: readonly LineShape[]): Recipe {
  const [program] = command === undefined ? [] : programsOf(command).slice(-1);
  return {
    name,
    description: 'Learned: of lines that repeat themselves the first and the last',
    match: {
      ...(program !== undefined && { program: [program] }),
      content: shapes.map(({ pattern }) => pattern),
    },
    mustKeep: [MUST_KEEP],
    operations: [],
    // Output of a failed command is left unchanged.
    onSuccess: shapes.map(({ pattern }) => ({ name: 'collapse_lines', values: { pattern } })),
  };
}

const isOf = ({ pattern }: LineShape, line: string): boolean =>
  new RegExp(pattern.replace(/^\^(?:\\s\{\d+\})?/, '^\\s*')).test(line);

/** Returns a function that finds the lines a session loses only because of a recipe. */
function createJudge(settings: EstimateSettings) {
  const compressor = createConversationCompressor(CACHE_ENTRIES);
  const counterFor = createCounters();
  return async (conversation: Conversation, recipe: Recipe) => {
    const count = await counterFor('');
    let hasRun = false;
    const watching = {
      async compress(...job: Parameters<typeof compressor.compress>) {
        const outcomes = await compressor.compress(...job);
        hasRun ||= outcomes.some(({ by }) => by.includes(`recipe:${recipe.name}`));
        return outcomes;
      },
      compressUncached: (...job: Parameters<typeof compressor.compressUncached>) =>
        compressor.compressUncached(...job),
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toRecipeSet`
    const others = JSON.parse(settings.recipes?.source ?? '[]') as readonly Recipe[];
    // No threshold: a short session proves as much as a long one.
    const any = { ...settings, thresholdTokens: 0 };
    const recipes = toRecipeSet([recipe, ...others], true);
    const check = (used: EstimateSettings) =>
      checkConversation(conversation, { compressor: watching, settings: used, count });
    const { broken, quoted } = await check({ ...any, recipes });
    if (broken.length === 0) return { quoted, hasRun, lost: [] };
    const without = new Set((await check(any)).broken.map(placeOf));
    return { quoted, hasRun, lost: broken.filter((one) => !without.has(placeOf(one))) };
  };
}

const placeOf = ({ check, session, block, line }: BrokenPromise): string =>
  JSON.stringify([check, session, block, line]);
