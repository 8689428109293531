/** How each kind of step is described, checked in advance, and run. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { AlertsJson } from '../../server/alerts/evaluate.ts';
import type { Config } from '../../server/config/config.ts';
import { createPrivateFile, writePrivateFile } from '../../server/config/home.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { CommandAction, CommandStep, StepOf } from '../../stages/macros/macro.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input-file.ts';
import { control } from '../remote.ts';
import type { Json } from '../remote.ts';
import { counted } from '../screen/output.ts';
import { recipeNamed } from './recipes.ts';

/** Resources for a step. */
export interface StepTools {
  readonly context: CliContext;
  readonly config: () => Promise<Config>;
  /** True if existing files may be replaced. */
  readonly replaces: boolean;
}

/** Result of a step. */
export interface Done {
  /** One sentence. */
  readonly said: string;
  /** Output lines of the step, such as search results. */
  readonly lines?: readonly string[];
  /** Result for `--json`. */
  readonly result: Json;
  /** How to undo it, or a note that this is impossible or unnecessary. */
  readonly undo: string;
}

interface Kind<A extends CommandAction> {
  /** Describes the step for `--dry-run`; continues after "would ". */
  describe(step: StepOf<A>): string;
  /**
   * Throws if it cannot be done now; `written` are the files that earlier steps create. Changes
   * nothing.
   */
  check?(step: StepOf<A>, tools: StepTools, written: ReadonlySet<string>): Promise<void> | void;
  do(step: StepOf<A>, tools: StepTools): Promise<Done>;
}

const undoneBy = (what: string): string => `${what} undoes it`;
const NOTHING_TO_UNDO = 'there is nothing to undo';
const CANNOT_UNDO = 'it cannot be undone';

const MAX_INGEST_BYTES = 900_000;

const KINDS: { readonly [A in CommandAction]: Kind<A> } = {
  compress: {
    describe: ({ file, recipe, to }) =>
      `compress ${file} with ${recipe.join(', ')} and write ${to}`,
    async check({ file, recipe, to }, { context, config, replaces }, written) {
      checkInput(file, context, written);
      checkOutput(to, context, replaces, written);
      for (const name of recipe) await recipeNamed(name, config, context);
    },
    do: compress,
  },
  ingest: {
    describe: ({ file, id }) => `add ${file} to the vault${id === undefined ? '' : ` as ${id}`}`,
    check: ({ file }, { context }, written) => checkInput(file, context, written),
    async do({ file, id }, { context }) {
      const content = readInput(resolve(context.cwd, file)).toString();
      if (Buffer.byteLength(content) > MAX_INGEST_BYTES)
        throw new SvcError('payload_too_large', `${file} is larger than 900 kB`, {
          cure: '`svc index <folder>` takes files of any size.',
        });
      const block = {
        content,
        source_path: resolve(context.cwd, file),
        ...(id && { block_id: id }),
      };
      const result = await control(homeOf(context), 'vault-ingest', block);
      const name = String(result['block_id']);
      const what = result['stored'] === false ? 'was in the vault already' : 'is in the vault';
      return { said: `${file} ${what} as ${name}`, result, undo: CANNOT_UNDO };
    },
  },
  search: {
    describe: ({ query }) => `search the vault for ${JSON.stringify(query)}`,
    async do({ query, top }, { context, config }) {
      const [{ searchRunning }, { hitJson, hitLines }, { colorsFor }] = await Promise.all([
        import('../vault/running-proxy.ts'),
        import('../vault/report.ts'),
        import('../screen/output.ts'),
      ]);
      const hits = await searchRunning(await config(), { query, top, includeUnsafe: false });
      if (hits === undefined)
        throw new SvcError('not_found', 'The running proxy has no index to search', {
          cure: '`svc index <folder>` makes one.',
        });
      if (hits.length === 0)
        throw new SvcError('not_found', `Nothing is found for ${JSON.stringify(query)}`);
      const colors = colorsFor(context.stdout, context.env);
      return {
        said: `${counted(hits.length, 'hit')} for ${JSON.stringify(query)}`,
        lines: hits.flatMap((hit) => hitLines(hit, context, colors)),
        result: { query, hits: hits.map(hitJson) },
        undo: NOTHING_TO_UNDO,
      };
    },
  },
  pause: {
    describe: () => 'send every request unchanged from then on',
    do: (_step, tools) => pause(true, tools),
  },
  resume: {
    describe: () => 'compress requests again',
    do: (_step, tools) => pause(false, tools),
  },
  debug: {
    describe: ({ on }) =>
      on ? 'log every request step by step' : 'stop logging requests step by step',
    async do({ on }, { context }) {
      const home = homeOf(context);
      const previous = (await control(home, 'debug'))['debug'] === true;
      const result = await control(home, 'debug', on);
      return {
        said: `Debug logging ${previous === on ? 'was already' : 'is'} ${on ? 'on' : 'off'}`,
        result,
        undo: previous === on ? NOTHING_TO_UNDO : undoneBy(`\`svc debug ${on ? 'off' : 'on'}\``),
      };
    },
  },
  force_health: {
    describe: ({ provider, state }) => `set ${provider} to ${state} by hand`,
    async do({ provider, state }, { context }) {
      const result = await control(homeOf(context), 'provider-force-health', { provider, state });
      const undo =
        state === 'unhealthy'
          ? undoneBy(`\`svc provider-force-health ${provider} healthy\``)
          : NOTHING_TO_UNDO;
      return { said: `${provider} is set to ${state} by hand`, result, undo };
    },
  },
  route_add: {
    describe: ({ id, model, target }) =>
      `add the rule ${id}: ${model ?? 'every model'} goes to ${target}`,
    async do({ id, target, model, priority }, { context }) {
      const rule = { id, target, priority, ...(model !== undefined && { model }) };
      const { changed, enabled } = await control(homeOf(context), 'route', { do: 'add', rule });
      const off = enabled === true ? '' : '; the router is off (`SVC_ROUTER_ENABLED`)';
      return {
        said: `Rule ${id} sends ${model ?? 'every model'} to ${target}${off}`,
        result: { rule: changed, enabled },
        undo: undoneBy(`\`svc route remove ${id}\``),
      };
    },
  },
  route_remove: {
    describe: ({ id }) => `remove the rule ${id}`,
    async do({ id }, { context }) {
      const { changed } = await control(homeOf(context), 'route', { do: 'remove', id });
      const { target } = changed as { readonly target: string };
      return {
        said: `Rule ${id} is removed; it led to ${target}`,
        result: { rule: changed },
        undo: undoneBy(`\`svc route add --id ${id} --target ${target}\` with its conditions`),
      };
    },
  },
  cache_clear: {
    describe: () => 'forget all answers in the response cache',
    async do(_step, { context }) {
      const result = await control(homeOf(context), 'cache-clear');
      const count = counted(Number(result['entries']), 'answer');
      return { said: `The response cache is empty; it held ${count}`, result, undo: CANNOT_UNDO };
    },
  },
  learn: {
    describe: ({ do: what }) =>
      what === 'apply' ? 'apply what was learned to new conversations' : 'forget what was learned',
    async do({ do: what }, { context }) {
      const result = await control(homeOf(context), 'learn', what);
      const text =
        what === 'apply' ? 'What was learned is applied' : 'What was learned is forgotten';
      return { said: text, result, undo: CANNOT_UNDO };
    },
  },
  check_alerts: {
    describe: () => 'evaluate the alert rules, and stop if one fires',
    async do(_step, { context }) {
      const report = await control<AlertsJson>(homeOf(context), 'check-alerts');
      const { alerts } = report;
      const firing = alerts.filter((one) => one.firing);
      if (firing.length > 0)
        throw new SvcError('internal', firing.map(({ text }) => text).join('; '), {
          cure: '`svc check-alerts` evaluates the rules again.',
        });
      const what =
        alerts.length === 0
          ? 'No alert rule is configured'
          : `None of ${counted(alerts.length, 'alert rule')} fires`;
      return { said: what, result: { firing: report.firing, alerts }, undo: NOTHING_TO_UNDO };
    },
  },
  reload: {
    describe: () => 'read the configuration again',
    async do(_step, { context }) {
      const result = await control(homeOf(context), 'reload');
      const applied = (result['applied'] as readonly string[] | undefined) ?? [];
      const what =
        applied.length === 0 ? 'no setting has changed' : `in force: ${applied.join(', ')}`;
      return {
        said: `The configuration was read again; ${what}`,
        result,
        undo:
          applied.length === 0
            ? NOTHING_TO_UNDO
            : undoneBy('the former file and `svc config reload`'),
      };
    },
  },
};

/**
 * The type of `KINDS` relates each action to its kind, which TypeScript loses when indexing by a
 * union.
 */
const kindOf = (step: CommandStep): Kind<CommandAction> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  KINDS[step.action] as unknown as Kind<CommandAction>;

export const describe = (step: CommandStep): string => kindOf(step).describe(step);

/** Throws if the step could not be done now. */
export async function check(
  step: CommandStep,
  tools: StepTools,
  written: ReadonlySet<string>,
): Promise<void> {
  await kindOf(step).check?.(step, tools, written);
}

export const perform = (step: CommandStep, tools: StepTools): Promise<Done> =>
  kindOf(step).do(step, tools);

async function pause(paused: boolean, { context }: StepTools): Promise<Done> {
  const home = homeOf(context);
  const previous = (await control(home, 'status'))['paused'] === true;
  const result = await control(home, paused ? 'pause' : 'resume');
  const now = paused ? 'sent unchanged' : 'compressed';
  return {
    said: previous === paused ? `Requests were ${now} already` : `Requests are ${now} from now on`,
    result,
    undo: previous === paused ? NOTHING_TO_UNDO : undoneBy(paused ? '`svc resume`' : '`svc pause`'),
  };
}

/** Returns the file that a step writes; undefined if none. */
export function outputOf(step: CommandStep, { cwd }: CliContext): string | undefined {
  return step.action === 'compress' ? resolve(cwd, step.to) : undefined;
}

function checkInput(file: string, { cwd }: CliContext, written: ReadonlySet<string>): void {
  const path = resolve(cwd, file);
  if (written.has(path)) return;
  if (!existsSync(path)) throw new SvcError('not_found', `There is no file ${file}`);
  if (statSync(path).isDirectory()) throw new SvcError('bad_request', `${file} is a folder`);
}

/** A macro may come from someone else: it may only write new files below the current folder. */
function checkOutput(
  to: string,
  { cwd }: CliContext,
  replaces: boolean,
  written: ReadonlySet<string>,
): void {
  const path = resolve(cwd, to);
  let inside: string;
  try {
    inside = relative(realpathSync(cwd), realpathSync(dirname(path)));
  } catch (cause) {
    throw new SvcError('not_found', `${to} cannot be written: ${reasonOf(cause)}`, { cause });
  }
  if (inside === '..' || inside.startsWith('../'))
    throw new SvcError('forbidden', `${to} is not below the folder in which the macro runs`, {
      cure: 'Run it in the folder that the file belongs to.',
    });
  if (written.has(path)) throw new SvcError('conflict', `${to} is written by an earlier step`);
  if (existsSync(path) && !replaces)
    throw new SvcError('conflict', `${to} already exists`, {
      cure: '--replace lets the macro replace files.',
    });
}

async function compress(
  { file, recipe: names, to, command }: StepOf<'compress'>,
  { context, config, replaces }: StepTools,
): Promise<Done> {
  const { tryRecipe, savedPercent } = await import('../../stages/compress/recipe/try.ts');
  const path = resolve(context.cwd, file);
  const before = readInput(path).toString();
  let text = before;
  const meant: string[] = [];
  const skipped: string[] = [];
  let tokens: { readonly before: number; readonly after: number } | undefined;
  for (const name of names) {
    const recipe = await recipeNamed(name, config, context);
    const tried = tryRecipe(recipe, text, command === undefined ? { path } : { command });
    tokens = { before: tokens?.before ?? tried.tokensBefore, after: tried.tokensAfter };
    if (!tried.isMeant) {
      skipped.push(`${name} does not apply to it (class ${tried.kind})`);
      continue;
    }
    meant.push(name);
    if (tried.skipped !== undefined) skipped.push(`${name}: ${tried.skipped}`);
    text = tried.text;
  }
  if (meant.length === 0 || tokens === undefined)
    throw new SvcError('unprocessable', `${file} is left as it is: ${skipped.join('; ')}`, {
      cure:
        command === undefined
          ? 'Recipes for a program need `command` in the step: what printed the file.'
          : '`svc recipe show` says what a recipe is meant for.',
    });
  const target = resolve(context.cwd, to);
  checkOutput(to, context, replaces, new Set());
  const isReplaced = existsSync(target);
  if (replaces) writePrivateFile(target, text);
  else createPrivateFile(target, text);
  const percent = savedPercent({ tokensBefore: tokens.before, tokensAfter: tokens.after });
  const aside = skipped.length === 0 ? '' : `; ${skipped.join('; ')}`;
  return {
    said: `${to} is written: ${tokens.before} → ${tokens.after} tokens (−${percent.toFixed(1)} %)${aside}`,
    result: {
      file,
      to,
      recipes: meant,
      tokens_before: tokens.before,
      tokens_after: tokens.after,
      saved_percent: Math.round(percent * 10) / 10,
      left_aside: skipped,
    },
    undo: isReplaced ? CANNOT_UNDO : `deleting ${to} undoes it`,
  };
}
