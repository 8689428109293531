/**
 * `svc recipe learn FILE`: learns a recipe for a long result, kept only if it loses nothing that a
 * session needed.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, extname, relative, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { Recipe } from '../../stages/compress/recipe/recipe.ts';
import type { CliContext } from '../context.ts';
import {
  followed,
  resolveFolder,
  noteFailed,
  sessionsIn,
  settingsOf,
} from '../estimate/sessions.ts';
import { readInput } from '../input-file.ts';
import type { Learned } from '../../server/recipes/learn.ts';
import { counted, figure, print, printJson } from '../screen/output.ts';
import { shownLine } from '../certify/view.ts';

export interface LearnFlags {
  readonly file: string;
  /** The command that printed it. */
  readonly command: string | undefined;
  readonly name: string | undefined;
  /** A folder of sessions or captures; by default those of this machine. */
  readonly sessions: string | undefined;
  readonly config: string | undefined;
  readonly seconds: string | undefined;
  readonly json: boolean;
}

/** A recipe that saves less is not worth keeping. */
const MIN_PERCENT = 10;

/** Returns true if a recipe was written. */
export async function learnFrom(flags: LearnFlags, context: CliContext): Promise<boolean> {
  const path = resolveFolder(flags.file, context);
  const text = readInput(path).toString();
  const [{ RECIPE_NAME }, { learnRecipe }, { savedPercent }, { jobOptions }, { captureFolder }] =
    await Promise.all([
      import('../../stages/compress/recipe/check.ts'),
      import('../../server/recipes/learn.ts'),
      import('../../stages/compress/recipe/try.ts'),
      import('../preview/options.ts'),
      import('../../stages/captures/files.ts'),
    ]);
  const name = flags.name ?? nameFrom(path);
  if (!RECIPE_NAME.test(name))
    throw new SvcError('usage', `${JSON.stringify(name)} cannot be a recipe's name`, {
      cure: 'Names consist of lower-case letters, digits and -: give one with --name.',
    });
  const written = resolve(context.cwd, `${name}.yaml`);
  if (existsSync(written))
    throw new SvcError('conflict', `${written} already exists; nothing was written`, {
      cure: 'Take another name with --name.',
    });
  const { config: file, seconds, json, sessions, command } = flags;
  const from = { folder: sessions, config: file, seconds, json };
  const { config, maxTimeMs } = await settingsOf(from, context);
  const own = captureFolder(config.home);
  const folders = [
    ...(await sessionsIn(from, context)),
    ...(sessions === undefined && existsSync(own) ? [own] : []),
  ];
  const { clock } = context;
  const settings = await jobOptions(config, context);
  const learned = await followed(context, (progress) => {
    const job = { folders, clock, maxTimeMs, progress };
    return learnRecipe({ name, text, command, settings, clock, folders: job });
  });
  noteFailed(context, learned.read.failed);
  const { recipe, tried } = learned;
  const saved = tried === undefined ? 0 : savedPercent(tried);
  const isKept = recipe !== undefined && saved >= MIN_PERCENT;
  if (isKept) {
    const example = relative(context.cwd, path);
    writeFileSync(written, await yamlOf(recipe, example, command, Math.floor(saved)), {
      flag: 'wx',
    });
  }
  if (json) printJson(context, learnedJson(learned, isKept ? written : null, saved));
  else printLearned(learned, isKept ? name : undefined, saved, context);
  return isKept;
}

function nameFrom(path: string): string {
  const name = basename(path, extname(path)).toLowerCase();
  return name.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
}

function learnedJson(
  { tried, shapes, givenUp, conversations, ranIn, quoted }: Learned,
  written: string | null,
  saved: number,
) {
  return {
    written,
    saved_percent: Math.round(saved * 10) / 10,
    tokens_before: tried?.tokensBefore ?? null,
    tokens_after: tried?.tokensAfter ?? null,
    shapes,
    given_up: givenUp.map(({ shape, lost }) => ({ pattern: shape.pattern, line: lost.line })),
    conversations,
    conversations_with_it: ranIn,
    lines_quoted: quoted,
  };
}

/** `name`: of the recipe that was written; undefined if none was. */
function printLearned(
  { tried, shapes, givenUp, conversations, ranIn, quoted }: Learned,
  name: string | undefined,
  saved: number,
  context: CliContext,
): void {
  for (const { shape, lost } of givenUp) {
    print(context, `dropped ${shape.pattern}`);
    print(context, `  lost: ${shownLine(lost.line)}`);
  }
  if (name === undefined)
    return print(context, `Nothing was written: ${explainFailure(givenUp.length, tried, saved)}`);
  const [before, after] = [figure(tried?.tokensBefore ?? 0), figure(tried?.tokensAfter ?? 0)];
  print(context, `wrote ${name}.yaml: ${before} → ${after} tokens (−${saved.toFixed(1)} %)`);
  for (const { pattern, lines } of shapes)
    print(context, `  ${pattern}  (${counted(lines, 'line')})`);
  print(
    context,
    conversations === 0
      ? 'There was no session to judge it by; --sessions names a folder of them'
      : `Judged on ${counted(conversations, 'conversation')}, in ${figure(ranIn)} of which it ran: none of ${counted(quoted, 'quoted line')} is lost`,
  );
  print(context, `Test it: \`svc recipe test ${name}.yaml\``);
  print(context, `Use it: compression.recipes: [${name}.yaml, bundled]`);
}

function explainFailure(givenUp: number, tried: Learned['tried'], saved: number): string {
  if (tried !== undefined)
    return tried.skipped ?? `it would save ${saved.toFixed(1)} %, less than ${MIN_PERCENT}`;
  return givenUp > 0
    ? 'every shape would lose a line that a session needed'
    : 'no line shape is frequent enough';
}

/** Returns the recipe's file, whose example is the text it was learned from. */
async function yamlOf(
  { name, description, match, mustKeep, onSuccess = [] }: Recipe,
  file: string,
  command: string | undefined,
  saves: number,
): Promise<string> {
  const { stringify } = await import('yaml');
  const { program, content } = match;
  return stringify(
    {
      name,
      description,
      match: { ...(program !== undefined && { program }), content },
      must_keep: mustKeep,
      on_success: onSuccess.map((step) => ({ [step.name]: { pattern: step.values['pattern'] } })),
      examples: [
        { from: file, made: 'run', ...(command !== undefined && { command }), file, saves },
      ],
    },
    { lineWidth: 0 },
  );
}
