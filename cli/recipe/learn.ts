/** `svc recipe learn FILE`: learns a recipe for a long result, kept only if it loses nothing that a session needed. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, extname, relative, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { Recipe } from '../../stages/compress/recipe/recipe.ts';
import type { CliContext } from '../context.ts';
import { followed, named, noteFailed, sessionsIn, settingsOf } from '../estimate/sessions.ts';
import { readInput } from '../input-file.ts';
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
const LEAST_PERCENT = 10;

/** Returns true if a recipe was written. */
export async function learnFrom(flags: LearnFlags, context: CliContext): Promise<boolean> {
  const path = named(flags.file, context);
  const text = readInput(path).toString();
  const [{ RECIPE_NAME }, { learnRecipe }, { savedPercent }, { jobOptions }, { captureFolder }] =
    await Promise.all([
      import('../../stages/compress/recipe/check.ts'),
      import('../../server/recipes/learn.ts'),
      import('../../stages/compress/recipe/try.ts'),
      import('../preview/options.ts'),
      import('../../stages/captures/files.ts'),
    ]);
  const plain = basename(path, extname(path))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  const name = flags.name ?? plain.replaceAll(/^-+|-+$/g, '');
  if (!RECIPE_NAME.test(name))
    throw new SvcError('usage', `${JSON.stringify(name)} cannot be a recipe's name`, {
      cure: 'Names are of lower case letters, digits and -: give one with --name.',
    });
  const written = resolve(context.cwd, `${name}.yaml`);
  if (existsSync(written))
    throw new SvcError('conflict', `${written} is there already; nothing was written`, {
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
  const { recipe, tried, shapes, givenUp, conversations, ranIn, quoted } = learned;
  const saved = tried === undefined ? 0 : savedPercent(tried);
  const isKept = recipe !== undefined && saved >= LEAST_PERCENT;
  if (isKept) {
    const example = relative(context.cwd, path);
    writeFileSync(written, yamlOf(recipe, example, command, Math.floor(saved)), { flag: 'wx' });
  }
  if (json)
    printJson(context, {
      written: isKept ? written : null,
      saved_percent: Math.round(saved * 10) / 10,
      tokens_before: tried?.tokensBefore ?? null,
      tokens_after: tried?.tokensAfter ?? null,
      shapes,
      given_up: givenUp.map(({ shape, lost }) => ({ pattern: shape.pattern, line: lost.line })),
      conversations,
      conversations_with_it: ranIn,
      lines_quoted: quoted,
    });
  else {
    for (const { shape, lost } of givenUp) {
      print(context, `given up ${shape.pattern}`);
      print(context, `  lost: ${shownLine(lost.line)}`);
    }
    if (isKept) {
      print(context, `wrote ${name}.yaml: ${tokensOf(tried, saved)}`);
      for (const { pattern, lines } of shapes)
        print(context, `  ${pattern}  (${counted(lines, 'line')})`);
      print(
        context,
        `Judged on ${counted(conversations, 'conversation')}, in ${figure(ranIn)} of which it ran: none of ${counted(quoted, 'quoted line')} is lost`,
      );
      print(context, `Test it: \`svc recipe test ${name}.yaml\``);
      print(context, `Use it: compression.recipes: [${name}.yaml, bundled]`);
    } else print(context, `Nothing was written: ${whyNot(learned.givenUp.length, tried, saved)}`);
  }
  return isKept;
}

type TriedTokens = { readonly tokensBefore: number; readonly tokensAfter: number } | undefined;

function tokensOf(tried: TriedTokens, saved: number): string {
  return `${figure(tried?.tokensBefore ?? 0)} → ${figure(tried?.tokensAfter ?? 0)} tokens (−${saved.toFixed(1)} %)`;
}

function whyNot(
  givenUp: number,
  tried: (TriedTokens & { readonly skipped?: string | undefined }) | undefined,
  saved: number,
): string {
  if (tried !== undefined)
    return tried.skipped ?? `it would save ${saved.toFixed(1)} %, less than ${LEAST_PERCENT}`;
  return givenUp > 0
    ? 'every shape would lose a line that a session needed'
    : 'no shape of its lines comes often enough';
}

function yamlOf(
  { name, description, match, mustKeep, onSuccess = [] }: Recipe,
  file: string,
  command: string | undefined,
  saves: number,
): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const list = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;
  const steps = onSuccess.map(
    (step) => `  - ${step.name}: { pattern: ${quoted(String(step.values['pattern']))} }`,
  );
  return [
    `name: ${name}`,
    `description: ${quoted(description)}`,
    'match:',
    ...(match.program === undefined ? [] : [`  program: ${list(match.program)}`]),
    `  content: ${list(match.content ?? [])}`,
    `must_keep: ${list(mustKeep)}`,
    '# What failed is left as it is.',
    'on_success:',
    ...steps,
    'examples:',
    `  - from: ${quoted(file)}`,
    '    made: run',
    ...(command === undefined ? [] : [`    command: ${quoted(command)}`]),
    `    file: ${quoted(file)}`,
    `    saves: ${saves}`,
    '',
  ].join('\n');
}
